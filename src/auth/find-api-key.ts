/** Finds an API key and the user for whom it acts, with one query, and records its use. */
import { isIP } from 'node:net';
import { runInBackground } from '../core/call-bounds.ts';
import type { Log } from '../core/log.ts';
import { type Clock, MINUTE_MS } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { bool, bytes, int, nullable, type RowOf, statement, text, texts, time } from '../db/statements.ts';
import { hashToken } from './tokens.ts';

/**
 * Finds a key only if it is active and has not expired. A personal key requires that its owner is a member. A key that
 * belongs to the workspace acts with the role admin, and the owner of the workspace is the author of what it creates.
 * During the overlap of a rotation, the previous key is found too. `is_allowed` says whether the key may be used from
 * the address, so that the error can state this reason.
 */
const findKey = statement('find-api-key', {
  params: { keyHash: bytes, workspaceId: nullable(int), address: nullable(text), now: time },
  returns: {
    user_id: int,
    name: text,
    email: text,
    email_verified: bool,
    recording_mail: bool,
    created_at: time,
    credential_id: int,
    workspace_id: nullable(int),
    role: nullable(text),
    key_name: text,
    key_workspace_id: int,
    is_of_workspace: bool,
    scopes: texts,
    is_allowed: bool,
    is_previous: bool,
    last_used_at: nullable(time),
  },
  sql: `
    select u.id as user_id, u.name, u.email, u.email_verified_at is not null as email_verified, u.recording_mail,
      u.created_at,
      k.id as credential_id, w.id as workspace_id,
      case when w.id = k.workspace_id then case when k.is_of_workspace then 'admin' else m.role end end as role,
      k.name as key_name, k.workspace_id as key_workspace_id, k.is_of_workspace, k.scopes,
      k.allowed_networks = '{}' or coalesce($address::inet <<= any(k.allowed_networks), false) as is_allowed,
      k.key_hash <> $keyHash as is_previous,
      case when k.key_hash = $keyHash then k.last_used_at else k.previous_last_used_at end as last_used_at
    from api_keys k
    join users u on u.id = case when k.is_of_workspace
      then (select owner_id from workspaces where id = k.workspace_id) else k.created_by end
    join members m on m.workspace_id = k.workspace_id and m.user_id = u.id
    left join workspaces w on w.id = $workspaceId
    where (k.key_hash = $keyHash or k.previous_key_hash = $keyHash and k.previous_expires_at > $now)
      and k.is_active and (k.expires_at is null or k.expires_at > $now) and u.locked_at is null`,
});

/** Only the first of several concurrent calls writes. */
const recordKeyUse = statement('record-key-use', {
  params: {
    workspaceId: int,
    id: int,
    isPrevious: bool,
    lastUsedAt: nullable(time),
    now: time,
    address: nullable(text),
  },
  sql: `
    update api_keys
    set last_used_at = case when $isPrevious then last_used_at else $now end,
      last_used_address = case when $isPrevious then last_used_address else $address end,
      previous_last_used_at = case when $isPrevious then $now else previous_last_used_at end,
      previous_last_used_address = case when $isPrevious then $address else previous_last_used_address end
    where workspace_id = $workspaceId and id = $id
      and case when $isPrevious then previous_last_used_at else last_used_at end is not distinct from $lastUsedAt
      and (not $isPrevious or previous_key_hash is not null)`,
});

export type FoundKey = RowOf<typeof findKey>;

type Dependencies = { db: Database; clock: Clock; log: Log };

/**
 * Finds the key with this token and, in the same query, the role that it gives in `workspaceId`. Undefined if it is
 * unknown, inactive or expired, or if the user for whom it acts is locked or no longer a member. `address` is that of
 * the caller. Concurrent calls share queries. The use is recorded if `isUse` is true and the address is allowed.
 */
export async function findApiKey(
  dependencies: Dependencies,
  token: string,
  workspaceId: number | null,
  address: string | null,
  isUse: boolean,
): Promise<FoundKey | undefined> {
  const { db, clock } = dependencies;
  const known = toAddress(address);
  const [row] = await db.sql.runShared(findKey, `${token} ${workspaceId} ${known}`, () => ({
    keyHash: hashToken(token),
    workspaceId,
    address: known,
    now: clock.now(),
  }));
  if (isUse && row?.is_allowed) await recordUse(dependencies, row, { now: clock.now(), address: known });
  return row;
}

/**
 * Returns an address that PostgreSQL can read: without a zone, and IPv4-mapped addresses as plain IPv4. Null for any
 * other text.
 */
function toAddress(address: string | null): string | null {
  const text = address?.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '') ?? '';
  return isIP(text) === 0 ? null : text;
}

/** Records the first use before the response, and later uses at most once a minute, in the background. */
async function recordUse(
  { db, log }: Dependencies,
  key: FoundKey,
  use: { now: Date; address: string | null },
): Promise<void> {
  const { key_workspace_id: workspaceId, credential_id: id, is_previous: isPrevious, last_used_at: lastUsedAt } = key;
  const write = () => db.sql.run(recordKeyUse, { workspaceId, id, isPrevious, lastUsedAt, ...use });
  if (lastUsedAt === null) await write();
  else if (use.now.getTime() - lastUsedAt.getTime() >= MINUTE_MS)
    runInBackground(write).catch((error: unknown) =>
      log.warn({ err: error }, 'Failed to record the last use of an API key'),
    );
}
