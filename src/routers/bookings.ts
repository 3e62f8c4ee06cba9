import { Ok } from '../core/shapes.ts';
import { book } from '../features/bookings/book.ts';
import { cancelByTeam, cancelByToken } from '../features/bookings/cancel.ts';
import { listBookings, listTimes } from '../features/bookings/read-bookings.ts';
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
import { anyone, inWorkspace, router } from '../trpc/trpc.ts';

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
        description:
          'The times of a range on which a booking page is open and that nobody has taken, as far as 365 days from now.',
      },
    })
    .input(TimesInput)
    .output(TimesAnswer)
    .query(({ ctx, input }) => listTimes(ctx.services, input)),

  book: anyone
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/book/{slug}',
        tags,
        protect: false,
        summary: 'Book a meeting',
        description:
          'One of the times that the page offers, with a room of its own, which has a waiting room; who books becomes a contact. 409 when the time is taken or not offered, or the address has three meetings to come on the page. Emits `room.created`.',
      },
    })
    .input(BookInput)
    .output(BookingAnswer)
    .mutation(async ({ ctx, input }) => ({ booking: await book(ctx.services, input, appUrlOf(ctx)) })),

  cancel: anyone
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/book/{slug}/cancel',
        tags,
        protect: false,
        summary: 'Cancel a meeting',
        description:
          'With the token that booking it answered, whatever the slug of the page is by now. The room goes along, unless somebody has come to it. Again: nothing happens. 409 once the meeting has begun.',
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
        description:
          'What is booked on all pages of the workspace and has not ended, cancelled meetings too, what begins first first. Earlier ones from `from` on.',
      },
    })
    .input(ListBookingsInput)
    .output(BookingsAnswer)
    .query(async ({ ctx, input }) => ({ bookings: await listBookings(ctx.services, ctx.actor, input) })),

  cancelByTeam: inWorkspace('member')
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/bookings/{bookingId}/cancel',
        tags,
        summary: 'Cancel a meeting of the workspace',
        description:
          'Owner or admin, or who is booked. The room goes along, unless somebody has come to it. Again: nothing happens. 409 once the meeting has begun.',
      },
    })
    .input(BookingInput)
    .output(Ok)
    .mutation(({ ctx, input }) => cancelByTeam(ctx.services, ctx.actor, input)),
});
