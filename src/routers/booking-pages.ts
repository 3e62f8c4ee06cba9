import { Ok } from '../core/shapes.ts';
import { createPage, deletePage, listPages, updatePage } from '../features/booking-pages/booking-pages.ts';
import {
  CreatePageInput,
  PageAnswer,
  PageInput,
  PagesAnswer,
  UpdatePageInput,
} from '../features/booking-pages/schemas.ts';
import { appUrlOf } from '../features/workspaces/app-url.ts';
import { inWorkspace, router } from '../trpc/trpc.ts';

const tags = ['Booking'];

export const bookingPagesRouter = router({
  list: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/booking-pages',
        tags,
        summary: 'List booking pages',
        description: 'All booking pages of the workspace, oldest first.',
      },
    })
    .output(PagesAnswer)
    .query(async ({ ctx }) => ({ bookingPages: await listPages(ctx.services, ctx.actor, appUrlOf(ctx)) })),

  create: inWorkspace('admin')
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/booking-pages',
        tags,
        summary: 'Create a booking page',
        description: 'Owner or admin, who is booked on it. 409 when the slug is taken.',
      },
    })
    .input(CreatePageInput)
    .output(PageAnswer)
    .mutation(async ({ ctx, input }) => ({
      bookingPage: await createPage(ctx.services, ctx.actor, input, appUrlOf(ctx)),
    })),

  update: inWorkspace('admin')
    .meta({
      refusals: [409],
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/booking-pages/{pageId}',
        tags,
        summary: 'Change a booking page',
        description:
          'Owner or admin. Only sent fields change; what is booked stays booked. 409 when the slug is taken.',
      },
    })
    .input(UpdatePageInput)
    .output(PageAnswer)
    .mutation(async ({ ctx, input }) => ({
      bookingPage: await updatePage(ctx.services, ctx.actor, input, appUrlOf(ctx)),
    })),

  delete: inWorkspace('admin')
    .meta({
      refusals: [409],
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/booking-pages/{pageId}',
        tags,
        summary: 'Delete a booking page',
        description:
          'Owner or admin. Its bookings go with it; the rooms that were made for them stay. 409 while the page has bookings to come that are not cancelled.',
      },
    })
    .input(PageInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deletePage(ctx.services, ctx.actor, input)),
});
