import type { Actor } from '../../auth/identify.ts';
import type { Services } from '../../services.ts';
import { findFilesOfItems, takeItems } from '../library/trash-items.ts';
import { moveToTrash } from './move-to-trash.ts';
import type { TrashedItems, TrashItemsInput } from './schemas.ts';

/** Moves items to the trash, as `moveToTrash` does. Emits `library_item.deleted` for each. */
export function moveItemsToTrash(
  services: Services,
  actor: Actor,
  { item_ids }: TrashItemsInput,
): Promise<TrashedItems> {
  return moveToTrash(services, actor, {
    kind: 'library_item',
    ids: item_ids,
    find: (ids) => findFilesOfItems(services.db.sql, actor.workspaceId, ids),
    async take(tx, at, files) {
      const taken = await takeItems(tx, at, actor, files);
      return taken.map(({ id, uploadedBy, name, size, fileKey, posterKey, createdAt, record }) => ({
        kind: 'library_item',
        resourceId: id,
        roomId: null,
        createdBy: uploadedBy,
        ...{ name, size, fileKey, posterKey, createdAt, record },
      }));
    },
  });
}
