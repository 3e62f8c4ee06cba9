/** Finds the caller and their role in a workspace with one query. */

import { runInBackground } from '../core/call-bounds.ts';
import type { Log } from '../core/log.ts';
import { type Role, toRole } from '../core/roles.ts';
import { type Clock, DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { bytes, int, nullable, type RowOf, statement, text, time } from '../db/statements.ts';
import { isApiKey } from './api-keys.ts';
import { hashToken, isToken } from './tokens.ts';

/** What the caller authenticated with. A key acts for its creator, in its workspace only. */
export type Credential =
  /** `authenticatedAt`: when the user last proved who they are. */
  { kind: 'session'; id: number; authenticatedAt: Date } | { kind: 'key'; id: number; workspaceId: number };

/** The signed-in user, or the creator of the API key. */
export type Caller = {
  userId: number;
  name: string;
  email: string;
  createdAt: Date;
  credential: Credential;
  /** The network address that the call came from; null if the service itself calls. */
  address: string | null;
};

/** A workspace and the caller's role in it; `role` is null if the caller is not a member. */
export type Access = { workspaceId: number; role: Role | null };

/** A member acting in a workspace: the `actor` of all workspace operations. */
export type Actor = {
  userId: number;
  name: string;
  workspaceId: number;
  role: Role;
  /** Null if the service itself acts for the user. */
  credential: Credential | null;
  address: string | null;
};

/** `caller` is null without a valid credential. `access` is null if the workspace does not exist, or none was given. */
export type Identity = { caller: Caller | null; access: Access | null };

type CallerRow = { [Column in keyof typeof callerColumns]: RowOf<typeof findSession>[Column] };

type Dependencies = { db: Database; clock: Clock; log: Log; settings: { sessionIdleDays: number } };

const anonymous: Identity = { caller: null, access: null };

const callerColumns = {
  user_id: int,
  name: text,
  email: text,
  created_at: time,
  credential_id: int,
  workspace_id: nullable(int),
  role: nullable(text),
};

const findSession = statement('find-session', {
  params: { tokenHash: bytes, now: time, idleSince: time, workspaceId: nullable(int) },
  returns: { ...callerColumns, authenticated_at: time, last_used_at: time },
  sql: `
    select u.id as user_id, u.name, u.email, u.created_at, s.id as credential_id, w.id as workspace_id, m.role,
      s.authenticated_at, s.last_used_at
    from sessions s
    join users u on u.id = s.user_id
    left join workspaces w on w.id = $workspaceId
    left join members m on m.workspace_id = w.id and m.user_id = u.id
    where s.token_hash = $tokenHash and s.expires_at > $now and s.last_used_at > $idleSince
      and u.locked_at is null`,
});

const findApiKey = statement('find-api-key', {
  params: { keyHash: bytes, workspaceId: nullable(int) },
  returns: { ...callerColumns, key_workspace_id: int, last_used_at: nullable(time) },
  sql: `
    select u.id as user_id, u.name, u.email, u.created_at, k.id as credential_id, w.id as workspace_id,
      case when w.id = k.workspace_id then m.role end as role, k.workspace_id as key_workspace_id, k.last_used_at
    from api_keys k
    join users u on u.id = k.created_by
    join members m on m.workspace_id = k.workspace_id and m.user_id = k.created_by
    left join workspaces w on w.id = $workspaceId
    where k.key_hash = $keyHash and k.is_active and u.locked_at is null`,
});

/** One of several concurrent calls writes. A session that has just ended is not written. */
const recordSessionUse = statement('record-session-use', {
  params: { id: int, lastUsedAt: time, now: time, address: nullable(text) },
  returns: {},
  sql: `
    update sessions set last_used_at = $now, address = coalesce($address, address)
    where id = $id and last_used_at = $lastUsedAt`,
});

/** How precise the last use of a session is. */
const SESSION_USE_MS = 5 * MINUTE_MS;

/**
 * Finds the caller with this credential and, in the same query, their access to `workspaceId`. `address` is that of the
 * caller; null if the service itself calls.
 */
export async function identify(
  dependencies: Dependencies,
  token: string | null,
  workspaceId: number | null,
  address: string | null,
): Promise<Identity> {
  if (token === null) return anonymous;
  if (isToken('lns_', token)) return identifyBySession(dependencies, token, workspaceId, address);
  if (isApiKey(token)) return identifyByKey(dependencies, token, workspaceId, address);
  return anonymous;
}

async function identifyBySession(
  dependencies: Dependencies,
  token: string,
  workspaceId: number | null,
  address: string | null,
): Promise<Identity> {
  const { db, clock, settings } = dependencies;
  const now = clock.now();
  const idleSince = new Date(now.getTime() - settings.sessionIdleDays * DAY_MS);
  const [row] = await db.sql.run(findSession, { tokenHash: hashToken(token), now, idleSince, workspaceId });
  if (!row) return anonymous;
  if (now.getTime() - row.last_used_at.getTime() >= SESSION_USE_MS)
    recordUseOfSession(dependencies, { id: row.credential_id, lastUsedAt: row.last_used_at, now, address });
  return toIdentity(row, { kind: 'session', id: row.credential_id, authenticatedAt: row.authenticated_at }, address);
}

/** Writes in the background, so that the request does not wait. */
function recordUseOfSession(
  { db, log }: Dependencies,
  use: { id: number; lastUsedAt: Date; now: Date; address: string | null },
): void {
  runInBackground(() => db.sql.run(recordSessionUse, use)).catch((error: unknown) =>
    log.warn({ err: error }, 'Failed to record the last use of a session'),
  );
}

function toIdentity(row: CallerRow, credential: Credential, address: string | null): Identity {
  return {
    caller: { userId: row.user_id, name: row.name, email: row.email, createdAt: row.created_at, credential, address },
    access:
      row.workspace_id === null
        ? null
        : { workspaceId: row.workspace_id, role: row.role === null ? null : toRole(row.role) },
  };
}

/** Finds a key by its hash. Checks on every call that it is active and that its creator is still a member. */
async function identifyByKey(
  dependencies: Dependencies,
  token: string,
  workspaceId: number | null,
  address: string | null,
): Promise<Identity> {
  const [row] = await dependencies.db.sql.run(findApiKey, { keyHash: hashToken(token), workspaceId });
  if (!row) return anonymous;
  await recordUse(dependencies, row);
  return toIdentity(row, { kind: 'key', id: row.credential_id, workspaceId: row.key_workspace_id }, address);
}

/** Records the first use before the request is answered, and later ones at most once a minute in the background. */
async function recordUse({ db, clock, log }: Dependencies, key: RowOf<typeof findApiKey>): Promise<void> {
  const now = clock.now();
  // Of several concurrent calls, only the first writes.
  const write = () =>
    db.apiKey.updateMany({
      where: { workspaceId: key.key_workspace_id, id: key.credential_id, lastUsedAt: key.last_used_at },
      data: { lastUsedAt: now },
    });
  if (key.last_used_at === null) await write();
  else if (now.getTime() - key.last_used_at.getTime() >= MINUTE_MS)
    runInBackground(write).catch((error: unknown) =>
      log.warn({ err: error }, 'Failed to record the last use of an API key'),
    );
}
