import { Ok } from '../core/shapes.ts';
import { createFeed, deleteFeed, readFeed, renderFeed } from '../features/calendar-feed/calendar-feed.ts';
import { FeedAnswer, FeedParams, NewFeedAnswer } from '../features/calendar-feed/schemas.ts';
import { appUrlOf } from '../features/workspaces/app-url.ts';
import { limitNetwork } from '../trpc/access.ts';
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
        summary: 'Look at your calendar feed',
        successDescription: 'The feed, or null',
        description: 'Whether the caller has a calendar feed, and since when. Its address is not shown again.',
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
        summary: 'Create your calendar feed, or change its address',
        successDescription: 'The feed with its address',
        description:
          'Creates an address at which calendar programs can read the upcoming bookings of the caller, in all ' +
          'workspaces. An earlier address stops working. Requires a recent sign-in.',
      },
    })
    .output(NewFeedAnswer)
    .mutation(async ({ ctx }) => ({
      feed: await createFeed(
        ctx.services,
        { caller: ctx.caller, client: clientOf(ctx) },
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
        description: 'The address of the feed stops working. Does nothing if there is no feed.',
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
    'For calendar programs. The next 1,000 bookings of the host that have not ended, in all workspaces, without ' +
    'cancelled and unconfirmed ones (iCalendar, RFC 5545). Times are in UTC. Each entry has the UID that the ' +
    'invitations by mail have. Needs no credential besides the token in the address. Send `If-None-Match` to get a ' +
    'response only if something has changed.',
  access: {
    credential: { schemes: {} },
    async admit({ context, params }) {
      limitNetwork(context);
      return { token: params.token ?? '', appUrl: appUrlOf(context) };
    },
  },
  request: { kind: 'none' },
  response: { kind: 'calendar', filename: 'bookings.ics', description: 'The calendar file' },
  refusals: [404],
  handle: ({ services, caller: { token, appUrl } }) => renderFeed(services, token, appUrl),
});
