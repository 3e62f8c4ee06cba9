/** Sets and reads the poster of an item. */
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { notFound } from '../../core/errors.ts';
import { transact } from '../../db/client.ts';
import { storeAnswerOfCall } from '../../db/idempotency-keys.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, nullable, statement, text } from '../../db/statements.ts';
import { type Poster, readPoster, storePoster } from '../../media/posters.ts';
import type { Services } from '../../services.ts';
import { completeItem } from './complete-item.ts';
import { requireInReach } from './label-limit.ts';
import { readItem } from './read-items.ts';
import type { ItemInput, LibraryItem } from './schemas.ts';

type ItemKey = { workspaceId: number; itemId: number };

const posterOfItem = statement('find-poster-of-item', {
  params: { workspaceId: int, itemId: int },
  returns: { poster_key: nullable(text) },
  sql: 'select poster_key from library_items where workspace_id = $workspaceId and id = $itemId',
});

/**
 * Replaces the poster of an item. Emits `library_item.updated`. Throws 404, 400 unless `bytes` are a small JPEG or
 * WebP, and 500 "Upload failed: storage service unavailable". `origin` is the origin of the poster's URL.
 */
export async function setItemPoster(
  services: Services,
  actor: Actor,
  { itemId }: ItemInput,
  bytes: Buffer,
  origin: string,
): Promise<LibraryItem> {
  const item = { workspaceId: actor.workspaceId, itemId };
  await findPosterKey(services, item);
  return storePoster(services, actor.workspaceId, bytes, (posterKey) =>
    transact(services.db, async (tx) => {
      await lockWorkspace(tx, actor.workspaceId, 'Item');
      if (!(await completeItem(tx, services.clock.now(), item, { posterKey }))) throw notFound('Item');
      const changed = await readItem(sqlIn(tx), actor, { itemId }, origin);
      await storeAnswerOfCall(sqlIn(tx), async () => ({ item: changed }));
      return changed;
    }),
  );
}

/** Reads the poster of an item. Throws 404 "Item not found", or "Poster not found" without one. */
export async function readItemPoster(services: Services, actor: Actor, { itemId }: ItemInput): Promise<Poster> {
  await requireInReach(services.db.sql, actor, itemId);
  const { workspaceId } = actor;
  return readPoster(services, await findPosterKey(services, { workspaceId, itemId }));
}

async function findPosterKey({ db }: Pick<Services, 'db'>, item: ItemKey): Promise<string | null> {
  const [found] = await db.sql.run(posterOfItem, item);
  if (!found) throw notFound('Item');
  return found.poster_key;
}
