import { Ok } from '../core/shapes.ts';
import { createFeed, deleteFeed, readFeed, renderFeed } from '../features/calendar-feed/calendar-feed.ts';
import { FeedAnswer, FeedParams, NewFeedAnswer } from '../features/calendar-feed/schemas.ts';
import { appUrlOf } from '../features/workspaces/app-url.ts';
import { callPublicly } from '../trpc/access.ts';
import { router, signedInBySession } from '../trpc/procedures.ts';
import { rawOperation } from '../trpc/raw-operation.ts';
import { clientOf } from '../trpc/sign-in.ts';

const tags = ['Booking'];

export const calendarFeedRouter = router({
  read: signedInBySession
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/auth/calendar-feed',
        tags,
        summary: 'Get your calendar feed',
        successDescription: 'The feed, or null',
        description:
          'Returns the time when the caller created their calendar feed, or null if there is none. Does not return ' +
          'its address.',
      },
    })
    .output(FeedAnswer)
    .query(async ({ ctx }) => ({ feed: await readFeed(ctx.services, ctx.caller) })),

  create: signedInBySession
    .meta({
      needsRecentSignIn: true,
      openapi: {
        method: 'POST',
        path: '/api/auth/calendar-feed',
        tags,
        summary: 'Create or replace your calendar feed',
        successDescription: 'The feed with its address',
        description:
          'Creates an address where calendar programs can read the upcoming bookings of the caller in all ' +
          'workspaces, except those that require more of a sign-in than the session has proven. Any earlier address ' +
          'stops working. Requires a recent sign-in.',
      },
    })
    .output(NewFeedAnswer)
    .mutation(async ({ ctx }) => ({
      feed: await createFeed(
        ctx.services,
        { sessionId: ctx.sessionId, client: clientOf(ctx) },
        ctx.services.settings.publicUrl ?? ctx.origin,
      ),
    })),

  delete: signedInBySession
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/auth/calendar-feed',
        tags,
        summary: 'Delete your calendar feed',
        successDescription: 'The feed is deleted',
        description: 'Deletes the feed, so that its address stops working. Does nothing if there is no feed.',
      },
    })
    .output(Ok)
    .mutation(({ ctx }) => deleteFeed(ctx.services, { caller: ctx.caller, client: clientOf(ctx) })),
});

export const calendarFile = rawOperation({
  name: 'calendarFeed.download',
  method: 'GET',
  path: '/api/calendar/{token}',
  params: FeedParams,
  tags,
  summary: 'Read a calendar feed',
  description:
    'For calendar programs (iCalendar, RFC 5545). Returns the next 1,000 confirmed bookings of the host that have ' +
    'not ended, in all workspaces. Times are in UTC. Each entry has the same UID as the calendar invitations sent by ' +
    'mail. The token in the address is the only credential. Send `If-None-Match` to get the file only if it has ' +
    'changed.',
  access: {
    credential: { schemes: {} },
    async admit({ context, params }) {
      return { context, token: params.token ?? '' };
    },
  },
  request: { kind: 'none' },
  response: { kind: 'calendar', filename: 'bookings.ics', description: 'The calendar file' },
  refusals: [404],
  handle: ({ services, caller: { context, token } }) =>
    callPublicly(context, { name: `feed:${token}`, isSecret: true }, () =>
      renderFeed(services, token, appUrlOf(context)),
    ),
});
