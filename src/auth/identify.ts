/** Who is calling, and as what in a workspace: one query for both. */
import { type Role, toRole } from '../core/roles.ts';
import type { Clock } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { hashToken, isSessionToken } from './tokens.ts';

/** A signed-in user. */
export type Caller = {
  userId: number;
  name: string;
  email: string;
  createdAt: Date;
  sessionId: number;
};

/** A workspace as the caller stands to it; `role` is null for who is not a member. */
export type Access = { workspaceId: number; role: Role | null };

/** A member who acts in a workspace. What functions of workspace operations take as `actor`. */
export type Actor = { userId: number; name: string; workspaceId: number; role: Role };

/** `caller` null: no valid credential. `access` null: no such workspace (or none was asked for). */
export type Identity = { caller: Caller | null; access: Access | null };

const nobody: Identity = { caller: null, access: null };

type Row = {
  user_id: number;
  name: string;
  email: string;
  created_at: Date;
  session_id: number;
  workspace_id: number | null;
  role: string | null;
};

/** Finds the caller behind a credential and, in the same query, what they are in `workspaceId`. */
export const identify = async (
  services: { db: Database; clock: Clock },
  token: string | null,
  workspaceId: number | null,
): Promise<Identity> => {
  if (token === null || !isSessionToken(token)) return nobody;
  const [row] = await services.db.$queryRaw<Row[]>`
    select u.id as user_id, u.name, u.email, u.created_at, s.id as session_id, w.id as workspace_id, m.role
    from sessions s
    join users u on u.id = s.user_id
    left join workspaces w on w.id = ${workspaceId}::int
    left join members m on m.workspace_id = w.id and m.user_id = u.id
    where s.token_hash = ${hashToken(token)} and s.expires_at > ${services.clock.now()}`;
  if (!row) return nobody;
  return {
    caller: {
      userId: row.user_id,
      name: row.name,
      email: row.email,
      createdAt: row.created_at,
      sessionId: row.session_id,
    },
    access:
      row.workspace_id === null
        ? null
        : { workspaceId: row.workspace_id, role: row.role === null ? null : toRole(row.role) },
  };
};
