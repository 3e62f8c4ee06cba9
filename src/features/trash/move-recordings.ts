import type { Actor } from '../../auth/identify.ts';
import type { Services } from '../../services.ts';
import { findFilesOfRecordings, takeRecordings } from '../recordings/trash-recordings.ts';
import { moveToTrash } from './move-to-trash.ts';
import type { TrashedRecordings, TrashRecordingsInput } from './schemas.ts';

/** Moves recordings to the trash, as `moveToTrash` does. Throws 409 for a recording that is not finished. */
export function moveRecordingsToTrash(
  services: Services,
  actor: Actor,
  { recording_ids }: TrashRecordingsInput,
): Promise<TrashedRecordings> {
  return moveToTrash(services, actor, {
    kind: 'recording',
    ids: recording_ids,
    find: (ids) => findFilesOfRecordings(services.db.sql, actor.workspaceId, ids),
    async take(tx, at, files) {
      const taken = await takeRecordings(tx, at, actor, files);
      return taken.map(({ id, roomId, name, size, fileKey, posterKey, createdAt, record }) => ({
        kind: 'recording',
        resourceId: id,
        createdBy: null,
        ...{ roomId, name, size, fileKey, posterKey, createdAt, record },
      }));
    },
  });
}
