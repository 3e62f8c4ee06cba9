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
        summary: 'Read the analytics',
        description:
          'Any member. Days are UTC days, today and the 29 before, oldest first. What was deleted counts no more, but for contact events.',
      },
    })
    .output(Analytics)
    .query(({ ctx }) => readAnalytics(ctx.services, ctx.actor)),
});
