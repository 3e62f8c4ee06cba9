import { ListPageInput, pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { deleteEntry, emptyTrash } from '../features/trash/delete-entries.ts';
import { moveItemsToTrash } from '../features/trash/move-items.ts';
import { moveRecordingsToTrash } from '../features/trash/move-recordings.ts';
import { moveRoomToTrash } from '../features/trash/move-room.ts';
import { listTrash } from '../features/trash/read-entries.ts';
import { restoreEntries } from '../features/trash/restore-entries.ts';
import {
  EmptiedTrash,
  RestoredEntries,
  RestoreInput,
  TRASH_DAYS,
  TrashEntryInput,
  TrashedItems,
  TrashedRecordings,
  TrashedRoom,
  TrashItemsInput,
  TrashPage,
  TrashRecordingsInput,
  TrashRoomInput,
} from '../features/trash/schemas.ts';
import { inWorkspaceBySession, router } from '../trpc/procedures.ts';

const tags = ['Trash'];

export const trashRouter = router({
  list: inWorkspaceBySession('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/trash',
        tags,
        summary: 'List the trash',
        successDescription: 'What lies in the trash',
        description: 'Any member. Returns what the caller may restore, newest first.',
      },
    })
    .input(ListPageInput)
    .output(TrashPage)
    .query(async ({ ctx, input }) => pageAs('entries', await listTrash(ctx.services, ctx.actor, input))),

  addItems: inWorkspaceBySession('member')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/trash/items',
        tags,
        summary: 'Move items to the trash',
        successDescription: 'The new entries of the trash, and the IDs of items that do not exist',
        description:
          'Any member. Moves up to 100 items of the library to the trash, in one transaction. For everything else ' +
          'they are deleted: they are in no list, their download URLs stop working, and `library_item.deleted` is ' +
          'emitted for each. Quotas still count them, and retention policies still apply. They can be restored for ' +
          `${TRASH_DAYS} days.`,
      },
    })
    .input(TrashItemsInput)
    .output(TrashedItems)
    .mutation(({ ctx, input }) => moveItemsToTrash(ctx.services, ctx.actor, input)),

  addRecordings: inWorkspaceBySession('admin')
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/trash/recordings',
        tags,
        summary: 'Move recordings to the trash',
        successDescription: 'The new entries of the trash, and the IDs of recordings that do not exist',
        description:
          'Owner or admin. Moves up to 20 recordings to the trash, in one transaction. For everything else they are ' +
          'deleted. They can be restored for 30 days, unless their room is deleted for good. 409 for a recording ' +
          'that is not finished, or has more than 5 GB.',
      },
    })
    .input(TrashRecordingsInput)
    .output(TrashedRecordings)
    .mutation(({ ctx, input }) => moveRecordingsToTrash(ctx.services, ctx.actor, input)),

  addRoom: inWorkspaceBySession('admin')
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/trash/rooms',
        tags,
        summary: 'Move a room to the trash',
        successDescription: 'The new entry of the trash',
        description:
          'Owner or admin. Moves a room with its recordings to the trash, in one transaction. For everything else ' +
          'they are deleted: everybody in the room leaves (`room.left`), and an upcoming booking is cancelled ' +
          '(`booking.cancelled`). The name stays taken, and the quotas count the room. For 30 days the room can be ' +
          'restored with its settings and recordings. What is personal is deleted at once: who was in its meetings, ' +
          'its passes, and its display name if it names the guest who booked it. 409 for a room with more than 100 ' +
          'recordings, or with one that is not finished or has more than 5 GB.',
      },
    })
    .input(TrashRoomInput)
    .output(TrashedRoom)
    .mutation(({ ctx, input }) => moveRoomToTrash(ctx.services, ctx.actor, input)),

  restore: inWorkspaceBySession('member')
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/trash/restore',
        tags,
        summary: 'Restore from the trash',
        successDescription: 'The restored entries, and the IDs of entries that do not exist',
        description:
          'Any member. Restores up to 100 entries in one transaction. They get back their IDs and dates, and those ' +
          'of their labels that still exist, and rooms their recordings. Emits `library_item.uploaded` for each item ' +
          'and `room.created` for each room, whose host is the caller if the former one has left. 409 if a room has ' +
          'another recording with the same archive ID meanwhile, if the room of a recording is in the trash too, if ' +
          'another room has the same session ID, and for more than 100 recordings.',
      },
    })
    .input(RestoreInput)
    .output(RestoredEntries)
    .mutation(({ ctx, input }) => restoreEntries(ctx.services, ctx.actor, input)),

  delete: inWorkspaceBySession('member')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/trash/{entryId}',
        tags,
        summary: 'Delete an entry of the trash for good',
        successDescription: 'The entry and its file are deleted',
        description:
          'Any member, for recordings and rooms the owner and admins. Emits no event: moving it there has emitted it.',
      },
    })
    .input(TrashEntryInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteEntry(ctx.services, ctx.actor, input)),

  empty: inWorkspaceBySession('member')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/trash',
        tags,
        summary: 'Empty the trash',
        successDescription: 'How many entries were deleted for good',
        description: 'Any member. Deletes for good everything that the list returns to the caller. Emits no event.',
      },
    })
    .output(EmptiedTrash)
    .mutation(({ ctx }) => emptyTrash(ctx.services, ctx.actor)),
});
