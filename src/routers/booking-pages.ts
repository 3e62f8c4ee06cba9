import { pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import {
  createBookingPage,
  deleteBookingPage,
  listBookingPages,
  updateBookingPage,
} from '../features/booking-pages/booking-pages.ts';
import {
  CreatePageInput,
  ListPagesInput,
  PageAnswer,
  PageInput,
  PagesAnswer,
  UpdatePageInput,
} from '../features/booking-pages/schemas.ts';
import { appUrlOf } from '../features/workspaces/app-url.ts';
import { inWorkspace, router } from '../trpc/procedures.ts';

const tags = ['Booking'];

export const bookingPagesRouter = router({
  list: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/booking-pages',
        tags,
        summary: 'List booking pages',
        successDescription: 'The booking pages of the workspace',
        description: 'Returns the booking pages of the workspace, oldest first.',
      },
    })
    .input(ListPagesInput)
    .output(PagesAnswer)
    .query(async ({ ctx, input }) =>
      pageAs('bookingPages', await listBookingPages(ctx.services, ctx.actor, input, appUrlOf(ctx))),
    ),

  create: inWorkspace('admin')
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/booking-pages',
        tags,
        summary: 'Create a booking page',
        successDescription: 'The new booking page',
        description: 'Owner or admin. The caller becomes the host of the page. 409 if another page has the slug.',
      },
    })
    .input(CreatePageInput)
    .output(PageAnswer)
    .mutation(async ({ ctx, input }) => ({
      bookingPage: await createBookingPage(ctx.services, ctx.actor, input, appUrlOf(ctx)),
    })),

  update: inWorkspace('admin')
    .meta({
      refusals: [409],
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/booking-pages/{pageId}',
        tags,
        summary: 'Update a booking page',
        successDescription: 'The updated booking page',
        description:
          'Owner or admin. Changes only the fields that are sent. Existing bookings stay as they are. 409 if the ' +
          'slug is taken.',
      },
    })
    .input(UpdatePageInput)
    .output(PageAnswer)
    .mutation(async ({ ctx, input }) => ({
      bookingPage: await updateBookingPage(ctx.services, ctx.actor, input, appUrlOf(ctx)),
    })),

  delete: inWorkspace('admin')
    .meta({
      refusals: [409],
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/booking-pages/{pageId}',
        tags,
        summary: 'Delete a booking page',
        successDescription: 'The booking page and its bookings are deleted',
        description:
          'Owner or admin. Also deletes the bookings of the page, but not their rooms. 409 if the page has upcoming ' +
          'bookings that are not cancelled.',
      },
    })
    .input(PageInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteBookingPage(ctx.services, ctx.actor, input)),
});
