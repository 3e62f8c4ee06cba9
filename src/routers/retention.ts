import { readRetention, setRetention } from '../features/retention/retention.ts';
import { Retention } from '../features/retention/schemas.ts';
import { inWorkspace, router } from '../trpc/procedures.ts';

const tags = ['Retention'];

export const retentionRouter = router({
  read: inWorkspace('owner')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/retention',
        tags,
        summary: 'Read the retention policy',
        successDescription: 'The retention policy',
        description: 'Owner only. null means that items are kept indefinitely.',
      },
    })
    .output(Retention)
    .query(({ ctx }) => readRetention(ctx.services, ctx.actor)),

  set: inWorkspace('owner')
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/retention',
        tags,
        summary: 'Set the retention policy',
        successDescription: 'The new retention policy',
        description:
          'Owner only. When the service starts and once a day, items older than the policy allows are deleted with ' +
          'their files. Each deletion emits `library_item.deleted`.',
      },
    })
    .input(Retention)
    .output(Retention)
    .mutation(({ ctx, input }) => setRetention(ctx.services, ctx.actor, input)),
});
