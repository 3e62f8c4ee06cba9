/** The API keys of a workspace. */
import { generateApiKey, keyPrefixOf } from '../../auth/api-keys.ts';
import type { Actor } from '../../auth/identify.ts';
import { hashToken } from '../../auth/tokens.ts';
import { lockWorkspace, lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { notFound } from '../../core/errors.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { transact } from '../../db/client.ts';
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

/** Lists all keys, oldest first, without the secret keys themselves. */
export async function listApiKeys({ db }: Db, { workspaceId }: Actor): Promise<ApiKey[]> {
  const rows = await db.apiKey.findMany({
    where: { workspaceId },
    select: keyColumns,
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return rows.map(toApiKey);
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
 * Creates a key that acts for the actor. Only the response contains `full_key`; the database stores its hash. Throws
 * 403 if the actor is no longer owner or admin, 404 if the workspace was deleted.
 */
export async function createApiKey(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { name }: CreateApiKeyInput,
): Promise<CreatedApiKey> {
  const key = generateApiKey();
  return transact(db, async (tx) => {
    // The lock makes sure that removing the actor at the same time also deactivates this key.
    await lockWorkspaceAs(tx, actor, 'admin');
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
 * Activates or deactivates a key, or toggles it if `is_active` is not sent. Concurrent calls each toggle it once. Once
 * a key is inactive, calls with it are rejected. Throws 403 if the actor is no longer owner or admin, and 404.
 */
export async function toggleApiKey(
  { db }: Db,
  actor: Actor,
  { keyId, is_active: wanted }: ToggleApiKeyInput,
): Promise<ApiKey> {
  return transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'admin');
    const where = { workspaceId_id: { workspaceId: actor.workspaceId, id: keyId } };
    const key = await tx.apiKey.findUnique({ where, select: { isActive: true } });
    if (key === null) throw notFound('API key');
    const isActive = wanted === undefined ? !key.isActive : Boolean(wanted);
    return toApiKey(await tx.apiKey.update({ where, data: { isActive }, select: keyColumns }));
  });
}

/** Deletes a key. Calls with it are rejected from then on. Throws 404. */
export async function deleteApiKey({ db }: Db, { workspaceId }: Actor, { keyId }: ApiKeyInput): Promise<{ ok: true }> {
  const { count } = await transact(db, async (tx) => {
    // `toggleApiKey` reads and then updates the key, so it must not be deleted in between.
    await lockWorkspace(tx, workspaceId);
    return tx.apiKey.deleteMany({ where: { workspaceId, id: keyId } });
  });
  if (count === 0) throw notFound('API key');
  return { ok: true };
}
