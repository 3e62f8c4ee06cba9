import {
  previewRecordingRetention,
  previewRetention,
  readRecordingRetention,
  setRecordingRetention,
} from '../features/retention/recording-retention.ts';
import { readRetention, setRetention } from '../features/retention/retention.ts';
import {
  RecordingRetention,
  Retention,
  RetentionPreview,
  RetentionPreviewInput,
} from '../features/retention/schemas.ts';
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

  preview: inWorkspace('owner')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/retention/preview',
        tags,
        summary: 'Count what a retention policy would delete',
        successDescription: 'The library items that are older',
        description: 'Owner only. Counts the library items that a policy of so many days would delete now.',
      },
    })
    .input(RetentionPreviewInput)
    .output(RetentionPreview)
    .query(({ ctx, input }) => previewRetention(ctx.services, ctx.actor, input)),

  readRecordings: inWorkspace('owner')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/retention/recordings',
        tags,
        summary: 'Read the retention policy for recordings',
        successDescription: 'The retention policy for recordings',
        description: 'Owner only. null means that recordings are kept indefinitely.',
      },
    })
    .output(RecordingRetention)
    .query(({ ctx }) => readRecordingRetention(ctx.services, ctx.actor)),

  setRecordings: inWorkspace('owner')
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/retention/recordings',
        tags,
        summary: 'Set the retention policy for recordings',
        successDescription: 'The new retention policy for recordings',
        description:
          'Owner only. When the service starts and once a day, recordings older than the policy allows are deleted ' +
          'with their files.',
      },
    })
    .input(RecordingRetention)
    .output(RecordingRetention)
    .mutation(({ ctx, input }) => setRecordingRetention(ctx.services, ctx.actor, input)),

  previewRecordings: inWorkspace('owner')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/retention/recordings/preview',
        tags,
        summary: 'Count what a retention policy for recordings would delete',
        successDescription: 'The recordings that are older',
        description: 'Owner only. Counts the recordings that a policy of so many days would delete now.',
      },
    })
    .input(RetentionPreviewInput)
    .output(RetentionPreview)
    .query(({ ctx, input }) => previewRecordingRetention(ctx.services, ctx.actor, input)),
});
