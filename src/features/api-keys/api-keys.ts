/** The API keys of a workspace. */

import { recordAccountEvent } from '../../audit/account-events.ts';
import type { AuditAction } from '../../audit/actions.ts';
import { type NewAuditEntry, recordAudit } from '../../audit/record-audit.ts';
import { generateApiKey, keyPrefixOf } from '../../auth/api-keys.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { hashToken } from '../../auth/tokens.ts';
import { lockWorkspace, lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { badField, conflict, notFound } from '../../core/errors.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import { fromUnixSeconds, toUnixSeconds } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { flagOf, secondsOf } from '../../db/columns.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, float, int, json, nullable, oneOf, statement, text, time } from '../../db/statements.ts';
import { queueMail } from '../../mail/queue-mail.ts';
import { requireFreeRow } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { type KeyRow, keyColumns, toApiKey } from './present.ts';
import type { ApiKey, ApiKeyInput, CreateApiKeyInput, CreatedApiKey, ToggleApiKeyInput } from './schemas.ts';

type Db = Pick<Services, 'db'>;

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
    belongs_to: oneOf<ApiKey['belongs_to']>(),
    scopes: nullable(json<string[]>('json')),
    allowed_networks: nullable(json<string[]>('json')),
    is_active: int,
    expires_at: nullable(float),
    last_used_at: nullable(float),
    last_used_address: nullable(text),
    created_at: float,
    rotated_at: nullable(float),
    previous_key: nullable(json<NonNullable<ApiKey['previous_key']>>('json')),
    ...timeKey,
  },
  sql: ({ after, window }) => `
    select k.id, k.workspace_id, k.name, k.key_prefix, k.created_by, u.name as created_by_name,
      case when k.is_of_workspace then 'workspace' else 'user' end as belongs_to,
      to_json(nullif(k.scopes, '{}')) as scopes, to_json(nullif(k.allowed_networks, '{}')) as allowed_networks,
      ${flagOf('k.is_active')} as is_active, ${secondsOf('k.expires_at')} as expires_at,
      ${secondsOf('k.last_used_at')} as last_used_at, k.last_used_address, ${secondsOf('k.created_at')} as created_at,
      ${secondsOf('k.rotated_at')} as rotated_at,
      case when k.previous_key_hash is not null then json_build_object('key_prefix', k.previous_key_prefix,
        'expires_at', ${secondsOf('k.previous_expires_at')},
        'last_used_at', ${secondsOf('k.previous_last_used_at')},
        'last_used_address', k.previous_last_used_address) end as previous_key,
      ${timeKeyOf('k.created_at')}
    from api_keys k join users u on u.id = k.created_by
    where k.workspace_id = $workspaceId ${after} ${window}`,
});

/** Lists keys, oldest first, without `full_key`. */
export function listApiKeys({ db }: Db, { workspaceId }: Actor, page: ListPageInput): Promise<Page<ApiKey>> {
  return readPage(db.sql, keysOf, { workspaceId }, page, [workspaceId]);
}

/**
 * Creates a key that acts for the actor or belongs to the workspace. Only the response contains `full_key`; the
 * database stores its hash. Throws 400 for an expiry in the past, 401 if the session has ended, 403 if the actor is no
 * longer owner or admin, 404 if the workspace was deleted, and 409 if its quota is reached.
 */
export async function createApiKey(
  services: Pick<Services, 'db' | 'clock' | 'settings' | 'sealer'>,
  actor: Actor,
  { name, belongs_to: belongsTo = 'user', scopes = [], allowed_networks = [], expires_at }: CreateApiKeyInput,
): Promise<CreatedApiKey> {
  const { db, clock, settings } = services;
  const expiresAt = toExpiry(expires_at, clock.now());
  const key = generateApiKey();
  return transact(db, async (tx) => {
    // The lock ensures that a concurrent removal of the actor either revokes this key too or is detected here.
    const workspace = await lockWorkspaceAs(tx, actor, 'admin');
    await requireFreeRow(tx, settings.quotas, 'apiKeys', actor.workspaceId);
    const row = await tx.apiKey.create({
      data: {
        workspaceId: actor.workspaceId,
        name,
        keyPrefix: keyPrefixOf(key),
        keyHash: hashToken(key),
        createdBy: actor.userId,
        isOfWorkspace: belongsTo === 'workspace',
        scopes,
        allowedNetworks: allowed_networks,
        expiresAt,
        createdAt: clock.now(),
      },
      select: keyColumns,
    });
    await recordAudit(tx, toEntry(actor, 'api_key.created', row, clock.now()));
    // The service itself creates the key of the demo account.
    if (actor.credential !== null) {
      await recordForAccount(tx, actor, 'api_key_created', row, clock.now());
      await reportNewKey(services, tx, actor.userId, row, workspace.name);
    }
    return { ...toApiKey(row), full_key: key };
  });
}

/** Notifies the user by mail that a key was created with their account. */
async function reportNewKey(
  services: Pick<Services, 'clock' | 'sealer'>,
  tx: Tx,
  userId: number,
  { name, keyPrefix, isOfWorkspace }: { name: string; keyPrefix: string; isOfWorkspace: boolean },
  workspaceName: string,
): Promise<void> {
  const user = await tx.user.findUniqueOrThrow({ where: { id: userId }, select: { email: true } });
  const data = { keyName: name, keyPrefix, workspaceName, isOfWorkspace };
  await queueMail(services, sqlIn(tx), { kind: 'api-key-created', to: user.email, data });
}

/** Returns null if the key does not expire. Throws 400 if the time is not in the future. */
export function toExpiry(seconds: number | undefined, now: Date): Date | null {
  if (seconds === undefined) return null;
  const expiresAt = fromUnixSeconds(seconds);
  if (expiresAt <= now) throw badField('expires_at', 'expires_at must be in the future');
  return expiresAt;
}

const lockKey = statement('lock-api-key', {
  params: { workspaceId: int, keyId: int },
  returns: { is_active: bool, revoked_at: nullable(time) },
  sql: 'select is_active, revoked_at from api_keys where workspace_id = $workspaceId and id = $keyId for update',
});

/**
 * Activates or deactivates a key. `is_active` sets the state; `toggle: true` or an empty body inverts it, and each of
 * several concurrent calls inverts it once. Calls with an inactive key are rejected. Throws 403 if the actor is no
 * longer owner or admin, 404 if the key does not exist, and 409 if the call would activate a revoked key.
 */
export async function toggleApiKey(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { keyId, is_active: wanted, toggle = true }: ToggleApiKeyInput,
): Promise<ApiKey> {
  return transact(db, async (tx) => {
    await lockWorkspaceAs(tx, actor, 'admin');
    // When a password change with `end_api_keys` starts, it locks the workspaces in which the user has keys at that
    // time. If this key is newer, its workspace may not be among them, so lock the key too.
    const [key] = await sqlIn(tx).run(lockKey, { workspaceId: actor.workspaceId, keyId });
    if (!key) throw notFound('API key');
    const isActive = wanted === undefined ? key.is_active !== toggle : Boolean(wanted);
    if (isActive && key.revoked_at !== null) throw conflict('This API key was revoked: create a new one');
    const where = { workspaceId_id: { workspaceId: actor.workspaceId, id: keyId } };
    const row = await tx.apiKey.update({ where, data: { isActive }, select: keyColumns });
    const action = isActive ? 'api_key.activated' : 'api_key.deactivated';
    if (isActive !== key.is_active) await recordAudit(tx, toEntry(actor, action, row, clock.now()));
    return toApiKey(row);
  });
}

const deleteKey = statement('delete-api-key', {
  params: { workspaceId: int, keyId: int },
  returns: { id: int, name: text },
  sql: 'delete from api_keys where workspace_id = $workspaceId and id = $keyId returning id, name',
});

/** Deletes a key. Later calls with the key are rejected. Throws 404 if the key does not exist. */
export async function deleteApiKey(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { keyId }: ApiKeyInput,
): Promise<{ ok: true }> {
  const { workspaceId } = actor;
  await transact(db, async (tx) => {
    // Without this lock, the key could be deleted between the read and the update of `toggleApiKey`.
    await lockWorkspace(tx, workspaceId);
    const [row] = await sqlIn(tx).run(deleteKey, { workspaceId, keyId });
    if (!row) throw notFound('API key');
    await recordAudit(tx, toEntry(actor, 'api_key.deleted', row, clock.now()));
  });
  return { ok: true };
}

/** Adds an event to the account log of the user for whom a key acts. */
export async function recordForAccount(
  tx: Tx,
  { userId, workspaceId, address }: Actor,
  action: 'api_key_created' | 'api_key_rotated',
  { name, isOfWorkspace }: Pick<KeyRow, 'name' | 'isOfWorkspace'>,
  at: Date,
): Promise<void> {
  if (isOfWorkspace) return;
  await recordAccountEvent(tx, { userId, at, action, address, details: { name, workspace_id: workspaceId } });
}

type KeyAction = Extract<AuditAction, `api_key.${string}`>;
type AuditedKey = { id: number; name: string } & Partial<Pick<KeyRow, 'isOfWorkspace' | 'scopes' | 'expiresAt'>>;

/** Returns an audit log entry about a key. For a new key, `after` contains its fields. */
export function toEntry(actor: Actor, action: KeyAction, key: AuditedKey, at: Date): NewAuditEntry {
  const { id, name, isOfWorkspace, scopes = [], expiresAt } = key;
  const after = {
    belongs_to: isOfWorkspace ? 'workspace' : 'user',
    scopes,
    expires_at: expiresAt ? toUnixSeconds(expiresAt) : null,
  };
  return {
    workspaceId: actor.workspaceId,
    at,
    actor: auditActorOf(actor),
    action,
    target: { kind: 'api_key', id, name },
    ...(action === 'api_key.created' && { after }),
  };
}
