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
        successDescription: 'The analytics of the workspace',
        description:
          'Any member. The timelines cover today and the previous 29 days (UTC), oldest first. Deleted rooms, ' +
          'recordings and contacts are not counted. The events of deleted contacts are still counted.',
      },
    })
    .output(Analytics)
    .query(({ ctx }) => readAnalytics(ctx.services, ctx.actor)),
});
