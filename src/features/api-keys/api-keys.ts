/** The API keys of a workspace. */
import { generateApiKey, keyPrefixOf } from '../../auth/api-keys.ts';
import type { Actor } from '../../auth/identify.ts';
import { hashToken } from '../../auth/tokens.ts';
import { lockWorkspace, lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { conflict, notFound, unauthorized } from '../../core/errors.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { flagOf, secondsOf } from '../../db/columns.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { float, int, nullable, text } from '../../db/statements.ts';
import { requireFreeRow } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import type { ApiKey, ApiKeyInput, CreateApiKeyInput, CreatedApiKey, ToggleApiKeyInput } from './schemas.ts';

type Db = Pick<Services, 'db'>;

const keyColumns = {
  id: true,
  workspaceId: true,
  name: true,
  keyPrefix: true,
  createdBy: true,
  isActive: true,
  lastUsedAt: true,
  createdAt: true,
  creator: { select: { name: true } },
} as const;

type KeyRow = {
  id: number;
  workspaceId: number;
  name: string;
  keyPrefix: string;
  createdBy: number;
  isActive: boolean;
  lastUsedAt: Date | null;
  createdAt: Date;
  creator: { name: string };
};

const keysOf = pagedList('list-api-keys', {
  order: byTime('k.created_at', 'k.id', 'asc'),
  params: { workspaceId: int },
  returns: {
    id: int,
    workspace_id: int,
    name: text,
    key_prefix: text,
    created_by: int,
    created_by_name: text,
    is_active: int,
    last_used_at: nullable(float),
    created_at: float,
    ...timeKey,
  },
  sql: ({ after, window }) => `
    select k.id, k.workspace_id, k.name, k.key_prefix, k.created_by, u.name as created_by_name,
      ${flagOf('k.is_active')} as is_active, ${secondsOf('k.last_used_at')} as last_used_at,
      ${secondsOf('k.created_at')} as created_at, ${timeKeyOf('k.created_at')}
    from api_keys k join users u on u.id = k.created_by
    where k.workspace_id = $workspaceId ${after} ${window}`,
});

/** Lists keys, oldest first, without `full_key`. */
export function listApiKeys({ db }: Db, { workspaceId }: Actor, page: ListPageInput): Promise<Page<ApiKey>> {
  return readPage(db.sql, keysOf, { workspaceId }, page, [workspaceId]);
}

function toApiKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    name: row.name,
    key_prefix: row.keyPrefix,
    created_by: row.createdBy,
    created_by_name: row.creator.name,
    is_active: row.isActive ? 1 : 0,
    last_used_at: row.lastUsedAt && toUnixSeconds(row.lastUsedAt),
    created_at: toUnixSeconds(row.createdAt),
  };
}

/**
 * Creates a key that acts for the actor. Only the response contains `full_key`; the database stores its hash.
 * `sessionId` is the session of the call, or null if the service itself creates the key. Throws 401 if the session has
 * ended, 403 if the actor is no longer owner or admin, 404 if the workspace was deleted, 409 if its quota is reached.
 */
export async function createApiKey(
  { db, clock, settings }: Pick<Services, 'db' | 'clock' | 'settings'>,
  actor: Actor,
  { name }: CreateApiKeyInput,
  sessionId: number | null,
): Promise<CreatedApiKey> {
  const key = generateApiKey();
  return transact(db, async (tx) => {
    // With the lock, a concurrent removal of the actor either revokes this key too or is noticed here.
    await lockWorkspaceAs(tx, actor, 'admin');
    if (sessionId !== null) await lockSession(tx, sessionId);
    await requireFreeRow(tx, settings.quotas, 'apiKeys', actor.workspaceId);
    const row = await tx.apiKey.create({
      data: {
        workspaceId: actor.workspaceId,
        name,
        keyPrefix: keyPrefixOf(key),
        keyHash: hashToken(key),
        createdBy: actor.userId,
        createdAt: clock.now(),
      },
      select: keyColumns,
    });
    return { ...toApiKey(row), full_key: key };
  });
}

/**
 * Throws 401 if the session has ended. A password change with `end_api_keys` ends sessions before it revokes keys: it
 * either waits for this lock and then revokes the new key too, or it has already ended the session.
 */
async function lockSession(tx: Tx, sessionId: number): Promise<void> {
  const rows = await tx.$queryRaw<object[]>`select id from sessions where id = ${sessionId} for share`;
  if (rows.length === 0) throw unauthorized();
}

/**
 * Activates or deactivates a key: `is_active` sets the state, `toggle: true` or no field inverts it. Concurrent calls
 * each invert it once. Calls with an inactive key are rejected. Throws 403 if the actor is no longer owner or admin,
 * 404 if the key does not exist, and 409 if a revoked key would become active.
 */
export async function toggleApiKey(
  { db }: Db,
  actor: Actor,
  { keyId, is_active: wanted, toggle = true }: ToggleApiKeyInput,
): Promise<ApiKey> {
  return transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'admin');
    // A password change with `end_api_keys` locks the workspaces in which the user has keys at that time, but not one
    // in which a key is created just after. The key itself is therefore locked too.
    const [key] = await tx.$queryRaw<{ is_active: boolean; revoked_at: Date | null }[]>`
      select is_active, revoked_at from api_keys
      where workspace_id = ${actor.workspaceId} and id = ${keyId} for update`;
    if (!key) throw notFound('API key');
    const isActive = wanted === undefined ? key.is_active !== toggle : Boolean(wanted);
    if (isActive && key.revoked_at !== null) throw conflict('This API key was revoked: create a new one');
    const where = { workspaceId_id: { workspaceId: actor.workspaceId, id: keyId } };
    return toApiKey(await tx.apiKey.update({ where, data: { isActive }, select: keyColumns }));
  });
}

/** Deletes a key. Calls with it are rejected from then on. Throws 404 if it does not exist. */
export async function deleteApiKey({ db }: Db, { workspaceId }: Actor, { keyId }: ApiKeyInput): Promise<{ ok: true }> {
  const { count } = await transact(db, async (tx) => {
    // `toggleApiKey` reads and then updates the key, so it must not be deleted in between.
    await lockWorkspace(tx, workspaceId);
    return tx.apiKey.deleteMany({ where: { workspaceId, id: keyId } });
  });
  if (count === 0) throw notFound('API key');
  return { ok: true };
}
