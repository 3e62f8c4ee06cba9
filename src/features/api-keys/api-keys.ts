/** The API keys of a workspace. What a key may do stands in auth/identify.ts and in the procedures. */
import { createApiKey, keyPrefixOf } from '../../auth/api-keys.ts';
import type { Actor } from '../../auth/identify.ts';
import { hashToken } from '../../auth/tokens.ts';
import { lockWorkspace, lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { notFound } from '../../core/errors.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import type { ApiKey, ApiKeyInput, CreateApiKeyInput, CreatedApiKey, SwitchApiKeyInput } from './schemas.ts';

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

/** All keys, oldest first; never the keys themselves. */
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
 * Creates a key that acts for the actor. `full_key` is known to the answer alone: the database keeps its hash. Throws 403
 * and 404 for who was demoted or removed, or whose workspace was deleted, since they were let in.
 */
export async function issueApiKey(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { name }: CreateApiKeyInput,
): Promise<CreatedApiKey> {
  const key = createApiKey();
  return transact(db, async (tx) => {
    // Whoever is being removed leaves no key behind: removing switches off those that are there.
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
 * Activates or deactivates a key; without `is_active` it flips, however many do so at once. A key that is inactive is
 * refused from its very next call. Throws 404, and 403 and 404 as `issueApiKey`.
 */
export async function switchApiKey(
  { db }: Db,
  actor: Actor,
  { keyId, is_active: sent }: SwitchApiKeyInput,
): Promise<ApiKey> {
  return transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'admin');
    const where = { workspaceId_id: { workspaceId: actor.workspaceId, id: keyId } };
    const key = await tx.apiKey.findUnique({ where, select: { isActive: true } });
    if (key === null) throw notFound('API key');
    const isActive = sent === undefined ? !key.isActive : Boolean(sent);
    return toApiKey(await tx.apiKey.update({ where, data: { isActive }, select: keyColumns }));
  });
}

/** Deletes a key; its next call is refused. Throws 404. */
export async function deleteApiKey({ db }: Db, { workspaceId }: Actor, { keyId }: ApiKeyInput): Promise<{ ok: true }> {
  const { count } = await transact(db, async (tx) => {
    // Not between a switch's look and its write.
    await lockWorkspace(tx, workspaceId);
    return tx.apiKey.deleteMany({ where: { workspaceId, id: keyId } });
  });
  if (count === 0) throw notFound('API key');
  return { ok: true };
}
