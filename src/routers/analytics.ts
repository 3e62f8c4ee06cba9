import { exportAnalytics } from '../features/analytics/export-analytics.ts';
import { readAnalytics } from '../features/analytics/read-analytics.ts';
import { readAnalyticsRange } from '../features/analytics/read-range.ts';
import { Analytics, AnalyticsRange, AnalyticsRangeInput, ExportAnalyticsQuery } from '../features/analytics/schemas.ts';
import { inWorkspace, inWorkspaceById, router } from '../trpc/procedures.ts';
import { rawOperation, WorkspaceParams, workspaceMember } from '../trpc/raw-operation.ts';

const tags = ['Analytics'];

export const analyticsRouter = router({
  read: inWorkspaceById('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{workspaceId}/analytics',
        tags,
        summary: 'Read the analytics of a workspace',
        successDescription: 'The analytics of the workspace',
        description:
          'Any member. The timelines cover today and the previous 29 days (UTC), oldest first. Deleted rooms, ' +
          'recordings and contacts are not counted. The events of deleted contacts are still counted.',
      },
    })
    .output(Analytics)
    .query(({ ctx }) => readAnalytics(ctx.services, ctx.actor)),

  readRange: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/analytics/range',
        tags,
        summary: 'Read the analytics of a range of days',
        successDescription: 'The analytics of the range',
        description:
          'Any member. Counts bookings, room joins and new contacts of at most 366 days, in a time zone, and ' +
          'compares them with the days before. Every day of the range is listed. Deleted rooms, booking pages and ' +
          'contacts are not counted, but the events of deleted contacts are. `GET ' +
          '/api/workspaces/{id}/contact-events` lists what is counted.',
      },
    })
    .input(AnalyticsRangeInput)
    .output(AnalyticsRange)
    .query(({ ctx, input }) => readAnalyticsRange(ctx.services, ctx.actor, input)),
});

export const analyticsExport = rawOperation({
  name: 'analytics.export',
  method: 'GET',
  path: '/api/workspaces/{id}/analytics.csv',
  params: WorkspaceParams,
  query: ExportAnalyticsQuery,
  tags,
  summary: 'Export the analytics of a range of days as CSV',
  description:
    'Any member. Returns a row for each day of the range as an attachment with the columns `date`, `bookings`, ' +
    '`room_joins` and `new_contacts` (RFC 4180, UTF-8).',
  access: workspaceMember('member'),
  request: { kind: 'none' },
  response: { kind: 'csv', filename: 'analytics.csv', description: 'The CSV file' },
  handle: ({ services, caller, query }) => exportAnalytics(services, caller, query),
});
