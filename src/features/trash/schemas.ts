import { z } from 'zod';
import { nextCursor } from '../../core/list-page.ts';
import { requestedId } from '../../core/requested-id.ts';
import { count, id, integerFrom, unixSeconds } from '../../core/validation.ts';
import { DeleteItemsInput } from '../library/schemas.ts';

/** How long the trash keeps what was moved there, in days. */
export const TRASH_DAYS = 30;
const MAX_RESTORED = 100;
/** Few, because the store copies their files, which are large. */
const MAX_MOVED_RECORDINGS = 20;
/** How many recordings a room that moves to the trash may have. */
export const MAX_RECORDINGS_OF_ROOM = 100;

export const trashKinds = ['library_item', 'recording', 'room'] as const;
export type TrashKind = (typeof trashKinds)[number];

export const TrashEntry = z
  .object({
    id,
    kind: z.enum(trashKinds),
    resource_id: id.describe('The ID that it had, and gets back when it is restored'),
    name: z.string(),
    size: integerFrom(0).describe(
      'Bytes, which the quota counts until the entry is deleted. Of a room: those of its recordings',
    ),
    created_at: unixSeconds.describe('When it was created itself'),
    trashed_by: id.nullable().describe('User ID; null if the user was deleted'),
    trashed_by_name: z.string(),
    trashed_at: unixSeconds,
    expires_at: unixSeconds.describe(`When the service deletes it for good: after ${TRASH_DAYS} days`),
  })
  .meta({ id: 'TrashEntry', description: 'Something that was moved to the trash' });
export type TrashEntry = z.infer<typeof TrashEntry>;

export const TrashPage = z
  .object({ entries: z.array(TrashEntry).describe('The newest first'), next_cursor: nextCursor })
  .meta({ id: 'TrashPage' });

export const TrashItemsInput = DeleteItemsInput.meta({ id: 'TrashLibraryItemsRequest' });
export type TrashItemsInput = z.infer<typeof TrashItemsInput>;

export const TrashedItems = z
  .object({
    entries: z.array(TrashEntry).describe('An entry for each item that was moved'),
    not_found: z.array(id).describe('The remaining items, which do not exist in the workspace'),
  })
  .meta({ id: 'TrashedLibraryItems' });
export type TrashedItems = z.infer<typeof TrashedItems>;

export const TrashRecordingsInput = z
  .object({
    recording_ids: z
      .array(id)
      .min(1, { error: 'recording_ids must name at least one recording', abort: true })
      .max(MAX_MOVED_RECORDINGS, { abort: true })
      .transform((ids) => [...new Set(ids)])
      .describe(`1 to ${MAX_MOVED_RECORDINGS} recording IDs; duplicates are dropped`),
  })
  .meta({ id: 'TrashRecordingsRequest' });
export type TrashRecordingsInput = z.infer<typeof TrashRecordingsInput>;

export const TrashedRecordings = z
  .object({
    entries: z.array(TrashEntry).describe('An entry for each recording that was moved'),
    not_found: z.array(id).describe('The remaining recordings, which do not exist in the workspace'),
  })
  .meta({ id: 'TrashedRecordings' });
export type TrashedRecordings = z.infer<typeof TrashedRecordings>;

export const TrashRoomInput = z
  .object({ room_name: z.string().trim().min(1, 'Room name is required').describe('The name (slug) of the room') })
  .meta({ id: 'TrashRoomRequest' });
export type TrashRoomInput = z.infer<typeof TrashRoomInput>;

export const TrashedRoom = z
  .object({ entry: TrashEntry.describe('The entry of the room, with which its recordings are restored') })
  .meta({ id: 'TrashedRoom' });
export type TrashedRoom = z.infer<typeof TrashedRoom>;

export const TrashEntryInput = z.object({ entryId: requestedId.describe('Trash entry ID') });
export type TrashEntryInput = z.infer<typeof TrashEntryInput>;

export const RestoreInput = z
  .object({
    entry_ids: z
      .array(id)
      .min(1, { error: 'entry_ids must name at least one entry', abort: true })
      .max(MAX_RESTORED, { abort: true })
      .transform((ids) => [...new Set(ids)])
      .describe(`1 to ${MAX_RESTORED} entry IDs; duplicates are dropped`),
  })
  .meta({ id: 'RestoreTrashRequest' });
export type RestoreInput = z.infer<typeof RestoreInput>;

export const RestoredEntries = z
  .object({
    entries: z.array(TrashEntry).describe('The entries that were restored, and are no longer in the trash'),
    not_found: z.array(id).describe('The remaining entries, which do not exist'),
  })
  .meta({ id: 'RestoredTrashEntries' });
export type RestoredEntries = z.infer<typeof RestoredEntries>;

export const EmptiedTrash = z
  .object({ deleted: count.describe('How many entries were deleted for good') })
  .meta({ id: 'EmptiedTrash' });
export type EmptiedTrash = z.infer<typeof EmptiedTrash>;
