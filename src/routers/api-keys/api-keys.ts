/** The API keys of a workspace. What a key may do stands in auth/identify.ts and in the procedures. */
import { createApiKey, keyPrefixOf } from '../../auth/api-keys.ts';
import type { Actor } from '../../auth/identify.ts';
import { hashToken } from '../../auth/tokens.ts';
import { notFound } from '../../core/errors.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { isForeignKeyViolation } from '../../db/client.ts';
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

const toApiKey = (row: KeyRow): ApiKey => ({
  id: row.id,
  workspace_id: row.workspaceId,
  name: row.name,
  key_prefix: row.keyPrefix,
  created_by: row.createdBy,
  created_by_name: row.creator.name,
  is_active: row.isActive ? 1 : 0,
  last_used_at: row.lastUsedAt && toUnixSeconds(row.lastUsedAt),
  created_at: toUnixSeconds(row.createdAt),
});

/** All keys, oldest first; never the keys themselves. */
export const listApiKeys = async ({ db }: Db, { workspaceId }: Actor): Promise<ApiKey[]> => {
  const rows = await db.apiKey.findMany({
    where: { workspaceId },
    select: keyColumns,
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return rows.map(toApiKey);
};

/** Creates a key that acts for the actor. `full_key` is known to the answer alone: the database keeps its hash. */
export const issueApiKey = async (
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { workspaceId, userId }: Actor,
  { name }: CreateApiKeyInput,
): Promise<CreatedApiKey> => {
  const key = createApiKey();
  try {
    const row = await db.apiKey.create({
      data: {
        workspaceId,
        name,
        keyPrefix: keyPrefixOf(key),
        keyHash: hashToken(key),
        createdBy: userId,
        createdAt: clock.now(),
      },
      select: keyColumns,
    });
    return { ...toApiKey(row), full_key: key };
  } catch (error) {
    // The workspace was deleted after the caller was let in.
    if (isForeignKeyViolation(error)) throw notFound('Workspace');
    throw error;
  }
};

/**
 * Activates or deactivates a key; without `is_active` it flips, however many do so at once. A key that is inactive is
 * refused from its very next call. Throws 404.
 */
export const switchApiKey = async (
  { db }: Db,
  { workspaceId }: Actor,
  { keyId, is_active: sent }: SwitchApiKeyInput,
): Promise<ApiKey> => {
  const isActive = sent === undefined ? null : Boolean(sent);
  const [row] = await db.$queryRaw<(Omit<KeyRow, 'creator'> & { creatorName: string })[]>`
    update api_keys k set is_active = coalesce(${isActive}::boolean, not k.is_active)
    from users u
    where k.workspace_id = ${workspaceId} and k.id = ${keyId} and u.id = k.created_by
    returning k.id, k.workspace_id as "workspaceId", k.name, k.key_prefix as "keyPrefix", k.created_by as "createdBy",
      k.is_active as "isActive", k.last_used_at as "lastUsedAt", k.created_at as "createdAt", u.name as "creatorName"`;
  if (!row) throw notFound('API key');
  return toApiKey({ ...row, creator: { name: row.creatorName } });
};

/** Deletes a key; its next call is refused. Throws 404. */
export const deleteApiKey = async (
  { db }: Db,
  { workspaceId }: Actor,
  { keyId }: ApiKeyInput,
): Promise<{ ok: true }> => {
  const { count } = await db.apiKey.deleteMany({ where: { workspaceId, id: keyId } });
  if (count === 0) throw notFound('API key');
  return { ok: true };
};
