/** Who is calling, and as what in a workspace: one query for both. */

import type { Log } from '../core/log.ts';
import { type Role, toRole } from '../core/roles.ts';
import { type Clock, MINUTE_MS } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { isApiKey } from './api-keys.ts';
import { hashToken, isToken } from './tokens.ts';

/** What the caller showed. A key acts for its creator, in its one workspace only. */
export type Credential = { kind: 'session'; id: number } | { kind: 'key'; id: number; workspaceId: number };

/** Who acts: a signed-in user, or the creator of a key. */
export type Caller = {
  userId: number;
  name: string;
  email: string;
  createdAt: Date;
  credential: Credential;
};

/** A workspace as the caller stands to it; `role` is null for who is not a member. */
export type Access = { workspaceId: number; role: Role | null };

/** A member who acts in a workspace. What functions of workspace operations take as `actor`. */
export type Actor = { userId: number; name: string; workspaceId: number; role: Role };

/** `caller` null: no valid credential. `access` null: no such workspace (or none was asked for). */
export type Identity = { caller: Caller | null; access: Access | null };

type Needs = { db: Database; clock: Clock; log: Log };

const nobody: Identity = { caller: null, access: null };

type Row = {
  user_id: number;
  name: string;
  email: string;
  created_at: Date;
  credential_id: number;
  workspace_id: number | null;
  role: string | null;
};

type KeyRow = Row & { key_workspace_id: number; last_used_at: Date | null };

/** Finds the caller behind a credential and, in the same query, what they are in `workspaceId`. */
export async function identify(needs: Needs, token: string | null, workspaceId: number | null): Promise<Identity> {
  if (token === null) return nobody;
  if (isToken('lns_', token)) return bySession(needs, token, workspaceId);
  if (isApiKey(token)) return byKey(needs, token, workspaceId);
  return nobody;
}

async function bySession({ db, clock }: Needs, token: string, workspaceId: number | null): Promise<Identity> {
  const [row] = await db.$queryRaw<Row[]>`
    select u.id as user_id, u.name, u.email, u.created_at, s.id as credential_id, w.id as workspace_id, m.role
    from sessions s
    join users u on u.id = s.user_id
    left join workspaces w on w.id = ${workspaceId}::int
    left join members m on m.workspace_id = w.id and m.user_id = u.id
    where s.token_hash = ${hashToken(token)} and s.expires_at > ${clock.now()}`;
  return row ? toIdentity(row, { kind: 'session', id: row.credential_id }) : nobody;
}

function toIdentity(row: Row, credential: Credential): Identity {
  return {
    caller: { userId: row.user_id, name: row.name, email: row.email, createdAt: row.created_at, credential },
    access:
      row.workspace_id === null
        ? null
        : { workspaceId: row.workspace_id, role: row.role === null ? null : toRole(row.role) },
  };
}

/** Found by its hash. Whether it is active and its creator still a member is looked at on every call. */
async function byKey(needs: Needs, token: string, workspaceId: number | null): Promise<Identity> {
  const [row] = await needs.db.$queryRaw<KeyRow[]>`
    select u.id as user_id, u.name, u.email, u.created_at, k.id as credential_id, k.workspace_id as key_workspace_id,
      k.last_used_at, w.id as workspace_id, case when w.id = k.workspace_id then m.role end as role
    from api_keys k
    join users u on u.id = k.created_by
    join members m on m.workspace_id = k.workspace_id and m.user_id = k.created_by
    left join workspaces w on w.id = ${workspaceId}::int
    where k.key_hash = ${hashToken(token)} and k.is_active`;
  if (!row) return nobody;
  await noteUse(needs, row);
  return toIdentity(row, { kind: 'key', id: row.credential_id, workspaceId: row.key_workspace_id });
}

/** The first use is written before its answer; later ones at most once a minute, and nobody waits for them. */
async function noteUse({ db, clock, log }: Needs, key: KeyRow): Promise<void> {
  const now = clock.now();
  // Of many calls that come at once, the first one writes.
  const write = () =>
    db.apiKey.updateMany({
      where: { workspaceId: key.key_workspace_id, id: key.credential_id, lastUsedAt: key.last_used_at },
      data: { lastUsedAt: now },
    });
  if (key.last_used_at === null) await write();
  else if (now.getTime() - key.last_used_at.getTime() >= MINUTE_MS)
    write().catch((error: unknown) => log.warn({ err: error }, 'The last use of a key could not be written'));
}
