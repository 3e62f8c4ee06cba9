/** Finds an embed token and the user for whom it acts, with one query. */
import type { EmbedScope } from '../core/embed-scopes.ts';
import type { Clock } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { bool, bytes, int, nullable, oneOf, type RowOf, statement, text, time } from '../db/statements.ts';
import { hashToken } from './tokens.ts';

/**
 * Finds a token only before it expires, while its maker is owner or admin, and while the key or app with which it was
 * made works. What a key of the workspace made acts for the owner, as the key does.
 */
const findToken = statement('find-embed-token', {
  params: { tokenHash: bytes, workspaceId: nullable(int), now: time },
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
    token_workspace_id: int,
    is_of_workspace: bool,
    kind: oneOf<EmbedScope['kind']>(),
    access: nullable(oneOf<'read' | 'upload'>()),
    label_id: nullable(int),
  },
  sql: `
    select u.id as user_id, u.name, u.email, u.email_verified_at is not null as email_verified, u.recording_mail,
      u.created_at, e.id as credential_id, w.id as workspace_id,
      case when w.id = e.workspace_id then case when k.is_of_workspace then 'admin' else m.role end end as role,
      e.workspace_id as token_workspace_id, coalesce(k.is_of_workspace, false) as is_of_workspace, e.kind, e.access,
      e.label_id
    from embed_tokens e
    left join api_keys k on k.workspace_id = e.workspace_id and k.id = e.key_id and k.is_active
      and (k.expires_at is null or k.expires_at > $now)
    join users u on u.id = case when k.is_of_workspace
      then (select owner_id from workspaces where id = e.workspace_id) else e.created_by end
    join members m on m.workspace_id = e.workspace_id and m.user_id = u.id and m.role in ('owner', 'admin')
    left join workspaces w on w.id = $workspaceId
    where e.token_hash = $tokenHash and e.expires_at > $now and u.locked_at is null
      and (e.key_id is null or k.id is not null)
      and (e.grant_id is null or exists (select from oauth_grants where id = e.grant_id and expires_at > $now))`,
});

export type FoundEmbedToken = RowOf<typeof findToken>;

/**
 * Finds the token and, in the same query, the role that it gives in `workspaceId`. Undefined if it is unknown, has
 * expired or was revoked, or if the rights of its maker have ended. Concurrent calls share queries.
 */
export async function findEmbedToken(
  { db, clock }: { db: Database; clock: Clock },
  token: string,
  workspaceId: number | null,
): Promise<FoundEmbedToken | undefined> {
  const [row] = await db.sql.runShared(findToken, `${token} ${workspaceId}`, () => ({
    tokenHash: hashToken(token),
    workspaceId,
    now: clock.now(),
  }));
  return row;
}
