import { pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { bookMeeting } from '../features/bookings/book-meeting.ts';
import { cancelByTeam, cancelByToken } from '../features/bookings/cancel-meeting.ts';
import { approveBooking, confirmByToken } from '../features/bookings/confirm-booking.ts';
import { listAvailableTimes, listTimesToMove } from '../features/bookings/list-available-times.ts';
import { listBookings } from '../features/bookings/list-bookings.ts';
import { lookUpBooking } from '../features/bookings/look-up-booking.ts';
import { rescheduleByTeam, rescheduleByToken } from '../features/bookings/reschedule-meeting.ts';
import {
  BookInput,
  BookingAnswer,
  BookingInput,
  BookingsAnswer,
  CancelInput,
  ConfirmInput,
  GuestBookingAnswer,
  ListBookingsInput,
  LookUpInput,
  RescheduleByTeamInput,
  RescheduleInput,
  TeamBookingAnswer,
  TimesAnswer,
  TimesInput,
  TimesToMoveInput,
} from '../features/bookings/schemas.ts';
import { appUrlOf } from '../features/workspaces/app-url.ts';
import { limitedNetworkOf } from '../trpc/access.ts';
import { anyoneNaming, inWorkspace, router } from '../trpc/procedures.ts';

const tags = ['Booking'];

export const bookingsRouter = router({
  times: anyoneNaming('slug')
    .meta({
      refusals: [404],
      openapi: {
        method: 'GET',
        path: '/api/book/{slug}',
        tags,
        protect: false,
        summary: 'List available times',
        successDescription: 'The booking page and its available times',
        description:
          'Returns the times in a range at which the booking page is open and its host has no other meeting. Times ' +
          'can be booked up to 365 days ahead.',
      },
    })
    .input(TimesInput)
    .output(TimesAnswer)
    .query(({ ctx, input }) => listAvailableTimes(ctx.services, input, ctx.origin)),

  book: anyoneNaming('slug')
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/book/{slug}',
        tags,
        protect: false,
        summary: 'Book a meeting',
        successDescription: 'The meeting and its token',
        description:
          'Books one of the available times of the page. Creates a room for the meeting, with a waiting room, and a ' +
          'contact for the guest. A host has one calendar, so a time that is booked on one of their pages is taken ' +
          'on all their pages. 409 if the time is taken or not offered, or if the email address already has three ' +
          'upcoming bookings on the page. Also 429 if too many meetings with the host were booked within 24 hours ' +
          'from one network. If too many were booked in total, the booking is `unconfirmed` and does not hold its ' +
          'time until the guest confirms it, or the host approves it if the service sends no mail. Emits ' +
          '`room.created` and `booking.created`, and `contact.created` for a new contact. If the page requires ' +
          'confirmation, the room, the contact and the events follow when the guest confirms.',
      },
    })
    .input(BookInput)
    .output(BookingAnswer)
    .mutation(async ({ ctx, input }) => ({
      booking: await bookMeeting(
        ctx.services,
        { ...input, language: input.language ?? ctx.language ?? undefined },
        limitedNetworkOf(ctx),
        appUrlOf(ctx),
      ),
    })),

  confirm: anyoneNaming('token')
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/book/{slug}/confirm',
        tags,
        protect: false,
        summary: 'Confirm a booking',
        successDescription: 'The meeting',
        description:
          'Confirms a booking with the token from the link that the guest received by mail. The token works even if ' +
          'the slug of the page has changed. Only a confirmed booking has a room and a contact, and is reported to ' +
          'the host. Confirming it again changes nothing. 409 if the booking was not confirmed within 30 minutes ' +
          'or is cancelled, if its time, which it did not hold, is taken, or if the workspace has reached its quota ' +
          'of rooms. Emits `room.created` and `booking.created`, and `contact.created` for a new contact.',
      },
    })
    .input(ConfirmInput)
    .output(GuestBookingAnswer)
    .mutation(async ({ ctx, input }) => ({ booking: await confirmByToken(ctx.services, input, appUrlOf(ctx)) })),

  lookUp: anyoneNaming('token')
    .meta({
      refusals: [404],
      openapi: {
        method: 'POST',
        path: '/api/book/{slug}/booking',
        tags,
        protect: false,
        summary: 'Get a meeting',
        successDescription: 'The meeting',
        description:
          'Returns the meeting with this token, even if the slug of the page has changed, or the meeting is over or ' +
          'cancelled. Changes nothing: the method is POST only to keep the token out of logs.',
      },
    })
    .input(LookUpInput)
    .output(GuestBookingAnswer)
    .mutation(async ({ ctx, input }) => ({ booking: await lookUpBooking(ctx.services, input, appUrlOf(ctx)) })),

  timesToMove: anyoneNaming('token')
    .meta({
      refusals: [404],
      openapi: {
        method: 'POST',
        path: '/api/book/{slug}/booking/times',
        tags,
        protect: false,
        summary: 'List available times for moving a meeting',
        successDescription: 'The booking page, and the times available for the meeting',
        description:
          'Returns the times in a range to which the meeting with this token can be moved, up to 365 days ahead. The ' +
          'meeting itself does not block any times and does not count toward the limit per day, so its current time ' +
          'is included. Changes nothing: the method is POST only to keep the token out of logs.',
      },
    })
    .input(TimesToMoveInput)
    .output(TimesAnswer)
    .mutation(({ ctx, input }) => listTimesToMove(ctx.services, input, ctx.origin)),

  reschedule: anyoneNaming('token')
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/book/{slug}/reschedule',
        tags,
        protect: false,
        summary: 'Move a meeting',
        successDescription: 'The meeting at its new time',
        description:
          'Moves the meeting with this token to another available time of its page, even if the slug of the page has ' +
          'changed. The booking keeps its ID, room and token. Its duration becomes the current duration of the page. ' +
          'Moving it to its current time changes nothing. 409 if the time is taken or not offered, if the meeting is ' +
          'cancelled or has started, or if it has been moved ten times. Emits `booking.rescheduled`.',
      },
    })
    .input(RescheduleInput)
    .output(GuestBookingAnswer)
    .mutation(async ({ ctx, input }) => ({ booking: await rescheduleByToken(ctx.services, input, appUrlOf(ctx)) })),

  cancel: anyoneNaming('token')
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
          'Cancels the meeting with this token, even if the slug of the page has changed. Deletes the room unless ' +
          'somebody has joined it, waited to be admitted, or recorded in it. Cancelling it again changes nothing. ' +
          '409 if the meeting has started. Emits `booking.cancelled`.',
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
          'Returns the bookings on all pages of the workspace, including cancelled ones, ordered by start time: all, ' +
          'or those with a host or a status. ' +
          'Bookings that have ended are included only if `from` is set.',
      },
    })
    .input(ListBookingsInput)
    .output(BookingsAnswer)
    .query(async ({ ctx, input }) => pageAs('bookings', await listBookings(ctx.services, ctx.actor, input))),

  approve: inWorkspace('member')
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/bookings/{bookingId}/approve',
        tags,
        summary: 'Approve an unconfirmed booking',
        successDescription: 'The confirmed booking',
        description:
          'For the host of the meeting, and the owner and admins of the workspace. Confirms an unconfirmed booking, ' +
          'as its guest can do with a link if `awaits` is `guest`. Approving it again changes nothing. 409 if it ' +
          'was not confirmed in time or is cancelled, if its time, which it did not hold, is taken, or if the ' +
          'workspace has reached its quota of rooms. Emits `room.created` and `booking.created`, and ' +
          '`contact.created` for a new contact.',
      },
    })
    .input(BookingInput)
    .output(TeamBookingAnswer)
    .mutation(async ({ ctx, input }) => ({ booking: await approveBooking(ctx.services, ctx.actor, input) })),

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
          'For the host of the meeting, and the owner and admins of the workspace. Deletes the room unless somebody ' +
          'has joined it, waited to be admitted, or recorded in it. Cancelling it again changes nothing. 409 if the ' +
          'meeting has started. Emits `booking.cancelled`.',
      },
    })
    .input(BookingInput)
    .output(Ok)
    .mutation(({ ctx, input }) => cancelByTeam(ctx.services, ctx.actor, input)),

  rescheduleByTeam: inWorkspace('member')
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/bookings/{bookingId}/reschedule',
        tags,
        summary: 'Move a meeting as its host or as an admin',
        successDescription: 'The booking at its new time',
        description:
          'For the host of the meeting, and the owner and admins of the workspace. They can choose any time within ' +
          'the next 365 days at which the host has no other meeting, even if the page does not offer it. The booking ' +
          'keeps its ID, room and token. Its duration becomes the current duration of the page. Moving it to its ' +
          'current time changes nothing. 409 if the time is taken, if the meeting is cancelled or has started, or ' +
          'if it has been moved 50 times. Emits `booking.rescheduled`.',
      },
    })
    .input(RescheduleByTeamInput)
    .output(TeamBookingAnswer)
    .mutation(async ({ ctx, input }) => ({ booking: await rescheduleByTeam(ctx.services, ctx.actor, input) })),
});
