import type { Actor } from '../../auth/identify.ts';
import { conflict, conflictForNow, notFound } from '../../core/errors.ts';
import { readSlug } from '../../core/slugs.ts';
import { onlyRow } from '../../db/only-row.ts';
import type { Services } from '../../services.ts';
import { findFilesOfRecordings, takeRecordings } from '../recordings/trash-recordings.ts';
import { findRecordingsOfRoom, removeTakenRoom, takeRoom } from '../rooms/trash-rooms.ts';
import { moveToTrash } from './move-to-trash.ts';
import { MAX_RECORDINGS_OF_ROOM, type TrashedRoom, type TrashRoomInput } from './schemas.ts';

/**
 * Moves a room to the trash with its recordings, as `moveToTrash` does. Everybody in it leaves, and an upcoming booking
 * is cancelled. Who was in its meetings is deleted as by a deletion, and so are its passes. Throws 404 "Room not
 * found", and 409 if the room has a recording that is not finished or too large, or too many recordings.
 */
export async function moveRoomToTrash(
  services: Services,
  actor: Actor,
  { room_name }: TrashRoomInput,
): Promise<TrashedRoom> {
  const { workspaceId } = actor;
  const { sql } = services.db;
  const roomName = readSlug(room_name);
  if (roomName === null) throw notFound('Room');
  const room = await findRecordingsOfRoom(sql, { workspaceId, roomName, limit: MAX_RECORDINGS_OF_ROOM + 1 });
  if (room === null) throw notFound('Room');
  if (room.recordingIds.length > MAX_RECORDINGS_OF_ROOM)
    throw conflict(`A room with more than ${MAX_RECORDINGS_OF_ROOM} recordings cannot be moved to the trash`);
  const { entries } = await moveToTrash(services, actor, {
    kind: 'room',
    ids: room.recordingIds,
    find: (ids) => findFilesOfRecordings(sql, workspaceId, ids),
    async take(tx, at, files) {
      const taken = await takeRoom(services, tx, actor, room.id);
      const recordings = await takeRecordings(tx, at, actor, files);
      if (recordings.length < taken.recordings)
        throw conflictForNow('The recordings of the room have just changed. Try again');
      return [
        { kind: 'room', resourceId: room.id, roomId: null, ...taken.entry },
        ...recordings.map(({ id, roomId, name, size, fileKey, posterKey, createdAt, record }) => ({
          kind: 'recording' as const,
          resourceId: id,
          withRoom: true,
          createdBy: null,
          ...{ roomId, name, size, fileKey, posterKey, createdAt, record },
        })),
      ];
    },
    // Only now, so that the triggers of rooms find that it has moved to the trash.
    finish: (tx) => removeTakenRoom(tx, workspaceId, room.id),
  });
  return { entry: onlyRow(entries) };
}
