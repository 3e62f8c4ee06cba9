import { pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { bookMeeting } from '../features/bookings/book-meeting.ts';
import { cancelByTeam, cancelByToken } from '../features/bookings/cancel-meeting.ts';
import { listAvailableTimes } from '../features/bookings/list-available-times.ts';
import { listBookings } from '../features/bookings/list-bookings.ts';
import {
  BookInput,
  BookingAnswer,
  BookingInput,
  BookingsAnswer,
  CancelInput,
  ListBookingsInput,
  TimesAnswer,
  TimesInput,
} from '../features/bookings/schemas.ts';
import { appUrlOf } from '../features/workspaces/app-url.ts';
import { limitedNetworkOf } from '../trpc/access.ts';
import { anyone, inWorkspace, router } from '../trpc/procedures.ts';

const tags = ['Booking'];

export const bookingsRouter = router({
  times: anyone
    .meta({
      refusals: [404],
      openapi: {
        method: 'GET',
        path: '/api/book/{slug}',
        tags,
        protect: false,
        summary: 'List the times that can be booked',
        successDescription: 'The booking page, and the times that can be booked',
        description:
          'The times in a range at which a booking page is open and its host has no other meeting, up to 365 days ' +
          'from now.',
      },
    })
    .input(TimesInput)
    .output(TimesAnswer)
    .query(({ ctx, input }) => listAvailableTimes(ctx.services, input)),

  book: anyone
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/book/{slug}',
        tags,
        protect: false,
        summary: 'Book a meeting',
        successDescription: 'The meeting, with the token for cancelling it',
        description:
          'Books one of the available times of the page. Creates a room for the meeting, with a waiting room, and a ' +
          'contact for the guest. A host has one calendar: a time that is booked on one of their pages is taken on ' +
          'all of them. 409 if the time is taken or not offered, or if the email address already has three upcoming ' +
          'bookings on the page. 429 also if too many meetings with the host were booked in 24 hours, from one ' +
          'network or in total. Emits `room.created`.',
      },
    })
    .input(BookInput)
    .output(BookingAnswer)
    .mutation(async ({ ctx, input }) => ({
      booking: await bookMeeting(ctx.services, input, limitedNetworkOf(ctx), appUrlOf(ctx)),
    })),

  cancel: anyone
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/book/{slug}/cancel',
        tags,
        protect: false,
        summary: 'Cancel a meeting',
        successDescription: 'The meeting is cancelled',
        description:
          'Cancels the meeting with this token, even if the slug of the page has changed since. The room is deleted, ' +
          'unless somebody has joined it, has waited to be admitted, or has made a recording in it. Cancelling again ' +
          'changes nothing. 409 if the meeting has started.',
      },
    })
    .input(CancelInput)
    .output(Ok)
    .mutation(({ ctx, input }) => cancelByToken(ctx.services, input)),

  list: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/bookings',
        tags,
        summary: 'List bookings',
        successDescription: 'The bookings of the workspace',
        description:
          'The bookings on all pages of the workspace, including cancelled ones, ordered by start time. Bookings ' +
          'that have ended are included only if `from` is set.',
      },
    })
    .input(ListBookingsInput)
    .output(BookingsAnswer)
    .query(async ({ ctx, input }) => pageAs('bookings', await listBookings(ctx.services, ctx.actor, input))),

  cancelByTeam: inWorkspace('member')
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/bookings/{bookingId}/cancel',
        tags,
        summary: 'Cancel a meeting as its host or as an admin',
        successDescription: 'The meeting is cancelled',
        description:
          'For the host of the meeting, and the owner and admins of the workspace. The room is deleted, unless ' +
          'somebody has joined it, has waited to be admitted, or has made a recording in it. Cancelling again ' +
          'changes nothing. 409 if the meeting has started.',
      },
    })
    .input(BookingInput)
    .output(Ok)
    .mutation(({ ctx, input }) => cancelByTeam(ctx.services, ctx.actor, input)),
});
