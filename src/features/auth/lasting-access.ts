/**
 * What gives access for longer than a session: calendar feeds, API keys, webhooks and others. Somebody who used the
 * account for a moment may have created it. What a table adds to this belongs into `accessKinds`, the statement below
 * and `end-access.ts`; test/auth/lasting-access.test.ts knows every table.
 */
import { secondsOf } from '../../db/columns.ts';
import { bool, float, int, nullable, oneOf, type RowOf, type Sql, statement, text, time } from '../../db/statements.ts';
import type { AccessKind, AccessList } from './access-schemas.ts';

/** A response lists at most this many. */
const MAX_LISTED = 200;

const accessOf = statement('list-lasting-access', {
  params: { userId: int, includesOthers: bool, now: time, max: nullable(int) },
  returns: {
    kind: oneOf<AccessKind>(),
    workspace_id: nullable(int),
    workspace_name: nullable(text),
    id: nullable(int),
    name: nullable(text),
    created_at: nullable(float),
    last_used_at: nullable(float),
    ends_on_reset: bool,
    total: int,
  },
  sql: `
    with w as (
      select w.id, w.name, m.role, w.invite_hash is not null as has_link,
        $includesOthers and w.owner_id = $userId as includes_others,
        not exists (select from members o where o.workspace_id = w.id and o.user_id <> $userId) as is_alone
      from members m join workspaces w on w.id = m.workspace_id where m.user_id = $userId),
    a as (
      select 'calendar_feed' as kind, null::int as workspace_id, null::text as workspace_name, null::int as id,
        null::text as name, created_at, null::timestamptz as last_used_at, true as ends_on_reset
      from calendar_feeds where user_id = $userId
      union all
      select 'passkey', null, null, id, name, created_at, last_used_at, true from passkeys where user_id = $userId
      union all
      select 'identity', null, null, id, coalesce(email, issuer), created_at, last_used_at, true
      from openid_identities where user_id = $userId
      union all
      select 'app', w.id, w.name, g.id, (select c.name from oauth_clients c where c.id = g.client_id), g.created_at,
        g.last_used_at, true
      from w join oauth_grants g on g.workspace_id = w.id and g.user_id = $userId where g.expires_at > $now
      union all
      select 'api_key', w.id, w.name, k.id, k.name, k.created_at, k.last_used_at, not k.is_of_workspace or is_alone
      from w join api_keys k on k.workspace_id = w.id
      where (k.created_by = $userId or includes_others) and k.is_active
        and (k.expires_at is null or k.expires_at > $now)
      union all
      select 'webhook', w.id, w.name, h.id, h.name, h.created_at, h.last_delivery_at, is_alone
      from w join webhooks h on h.workspace_id = w.id
      where (h.created_by = $userId or includes_others) and h.is_active
      union all
      select 'connection', w.id, w.name, c.id, c.name, c.created_at, c.last_event_at, is_alone
      from w join meeting_connections c on c.workspace_id = w.id where c.created_by = $userId or includes_others
      union all
      select 'invite_link', id, name, null, null, null, null, true from w where has_link and role <> 'member'
      union all
      select 'invitation', w.id, w.name, i.id, i.email, i.sent_at, null, true
      from w join invitations i on i.workspace_id = w.id
      where (i.invited_by = $userId or includes_others) and i.state = 'pending' and i.expires_at > $now)
    select kind, workspace_id, workspace_name, id, name, ${secondsOf('created_at')} as created_at,
      ${secondsOf('last_used_at')} as last_used_at, ends_on_reset, count(*) over ()::int as total
    from a order by a.created_at desc nulls last, kind, workspace_id, id limit $max`,
});

export type AccessRow = RowOf<typeof accessOf>;

/** Lists the newest of what gives access to the user's account and to what it may see. */
export async function listAccess(sql: Sql, userId: number, now: Date): Promise<AccessList> {
  const rows = await sql.run(accessOf, { userId, includesOthers: false, now, max: MAX_LISTED });
  return { access: rows.map(({ total, ...entry }) => entry), total: rows[0]?.total ?? 0 };
}

/**
 * Finds all of what `listAccess` lists. With `includesOthers`, also what others have created in the workspaces that the
 * user owns.
 */
export function findAccess(sql: Sql, userId: number, now: Date, includesOthers: boolean): Promise<AccessRow[]> {
  return sql.run(accessOf, { userId, includesOthers, now, max: null });
}
