import { readAnalytics } from '../features/analytics/read-analytics.ts';
import { Analytics } from '../features/analytics/schemas.ts';
import { inWorkspaceById, router } from '../trpc/procedures.ts';

export const analyticsRouter = router({
  read: inWorkspaceById('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{workspaceId}/analytics',
        tags: ['Analytics'],
        summary: 'Read the analytics of a workspace',
        description:
          'Any member. The timelines cover today and the 29 days before, in UTC, oldest first. Deleted rooms, ' +
          'recordings and contacts do not count; contact events always do.',
      },
    })
    .output(Analytics)
    .query(({ ctx }) => readAnalytics(ctx.services, ctx.actor)),
});
