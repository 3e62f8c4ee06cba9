/** Sets and reads the poster of an item. */
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { embedScope, notFound } from '../../core/errors.ts';
import { transact } from '../../db/client.ts';
import { storeAnswerOfCall } from '../../db/idempotency-keys.ts';
import { sqlIn } from '../../db/sql.ts';
import { int, nullable, type Sql, statement, text } from '../../db/statements.ts';
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

/** Items that the maker of an embed token, or its frames, have added since it was made, and that have no poster yet. */
const newItemOfToken = statement('find-new-item-of-embed-token', {
  params: { workspaceId: int, itemId: int, userId: int, tokenId: int },
  returns: { id: int },
  sql: `
    select i.id from library_items i
    join embed_tokens e on e.workspace_id = i.workspace_id and e.id = $tokenId and e.created_at <= i.created_at
    where i.workspace_id = $workspaceId and i.id = $itemId and i.uploaded_by = $userId and i.poster_key is null`,
});

/**
 * Replaces the poster of an item. Emits `library_item.updated`. Throws 404, 400 unless `bytes` are a small JPEG or
 * WebP, 403 for an embed token if the item is not new, and 500 "Upload failed: storage service unavailable". `origin`
 * is the origin of the poster's URL.
 */
export async function setItemPoster(
  services: Services,
  actor: Actor,
  { itemId }: ItemInput,
  bytes: Buffer,
  origin: string,
): Promise<LibraryItem> {
  const item = { workspaceId: actor.workspaceId, itemId };
  await requireInReach(services.db.sql, actor, itemId);
  await findPosterKey(services, item);
  return storePoster(services, actor.workspaceId, bytes, (posterKey) =>
    transact(services.db, async (tx) => {
      await lockWorkspace(tx, actor.workspaceId, 'Item');
      await requireNewOfToken(sqlIn(tx), actor, itemId);
      if (!(await completeItem(tx, services.clock.now(), item, { posterKey }))) throw notFound('Item');
      const changed = await readItem(sqlIn(tx), actor, { itemId }, origin);
      await storeAnswerOfCall(sqlIn(tx), async () => ({ item: changed }));
      return changed;
    }),
  );
}

/** A frame adds the poster of what it has uploaded, and changes no other. */
async function requireNewOfToken(sql: Sql, { workspaceId, userId, credential }: Actor, itemId: number): Promise<void> {
  if (credential?.kind !== 'key' || credential.embed === undefined) return;
  const [found] = await sql.run(newItemOfToken, { workspaceId, itemId, userId, tokenId: credential.id });
  if (!found) throw embedScope();
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
