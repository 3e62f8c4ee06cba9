/** Finds the person who has connected an app, by the access token of the app, with one query, and records its use. */
import { runInBackground } from '../core/call-bounds.ts';
import type { Log } from '../core/log.ts';
import { type Clock, HOUR_MS, MINUTE_MS } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { bool, bytes, int, nullable, type RowOf, statement, text, texts, time } from '../db/statements.ts';
import { allUnmetBy, unmetBy, unmetColumns } from './sign-in-requirements.ts';
import { hashToken } from './tokens.ts';

/** How long an access token works. */
export const ACCESS_TOKEN_MS = HOUR_MS;

/**
 * Finds a grant only while its access token works for the resource. It ends with the membership, so the person is a
 * member of its workspace.
 */
const findGrant = statement('find-app-grant', {
  params: { accessHash: bytes, resource: text, workspaceId: nullable(int), now: time, issuedSince: time },
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
    ...unmetColumns,
    app_name: text,
    app_workspace_id: int,
    scopes: texts,
    last_used_at: nullable(time),
  },
  sql: `
    select u.id as user_id, u.name, u.email, u.email_verified_at is not null as email_verified, u.recording_mail,
      u.created_at, g.id as credential_id, w.id as workspace_id,
      case when w.id = g.workspace_id then m.role end as role,
      ${unmetBy('g')} as unmet, ${allUnmetBy('g')} as unmet_in,
      c.name as app_name, g.workspace_id as app_workspace_id, g.scopes, g.last_used_at
    from oauth_tokens t
    join oauth_grants g on g.id = t.grant_id
    join oauth_clients c on c.id = g.client_id
    join users u on u.id = g.user_id
    join members m on m.workspace_id = g.workspace_id and m.user_id = g.user_id
    left join workspaces w on w.id = $workspaceId
    where t.access_hash = $accessHash and t.created_at > $issuedSince and g.resource = $resource
      and g.expires_at > $now and u.locked_at is null`,
});

/** Only the first of several concurrent calls writes. */
const recordGrantUse = statement('record-app-grant-use', {
  params: { id: int, lastUsedAt: nullable(time), now: time, address: nullable(text) },
  sql: `
    update oauth_grants set last_used_at = $now, last_used_address = $address
    where id = $id and last_used_at is not distinct from $lastUsedAt`,
});

const findIssuedToken = statement('find-issued-app-token', {
  params: { accessHash: bytes },
  returns: { grant_id: int },
  sql: 'select grant_id from oauth_tokens where access_hash = $accessHash',
});

export type FoundGrant = RowOf<typeof findGrant>;

type Dependencies = { db: Database; clock: Clock; log: Log };

export type AppCall = {
  workspaceId: number | null;
  address: string | null;
  /** The URL that is called. The token of another one is unknown. */
  resource: string;
  /** Whether to record the use, at most once a minute. */
  isUse: boolean;
};

/**
 * Finds the grant with this access token and, in the same query, the person's role in `workspaceId`. Undefined if the
 * token is unknown, expired or for another resource, or if the account is locked.
 */
export async function findAppGrant(
  { db, clock, log }: Dependencies,
  token: string,
  { workspaceId, address, resource, isUse }: AppCall,
): Promise<FoundGrant | undefined> {
  const now = clock.now();
  const [row] = await db.sql.runShared(findGrant, `${token} ${workspaceId} ${resource}`, () => ({
    accessHash: hashToken(token),
    resource,
    workspaceId,
    now,
    issuedSince: new Date(now.getTime() - ACCESS_TOKEN_MS),
  }));
  const lastUsedAt = row?.last_used_at ?? null;
  if (isUse && row && (lastUsedAt === null || now.getTime() - lastUsedAt.getTime() >= MINUTE_MS))
    runInBackground(() => db.sql.run(recordGrantUse, { id: row.credential_id, lastUsedAt, now, address })).catch(
      (error: unknown) => log.warn({ err: error }, 'Failed to record the last use of a connected app'),
    );
  return row;
}

/**
 * Finds the grant for which an access token was issued, also if it works no more, or not here. Null if there is none,
 * or if the app has been disconnected.
 */
export async function findGrantOfToken({ db }: Pick<Dependencies, 'db'>, token: string): Promise<number | null> {
  const [row] = await db.sql.run(findIssuedToken, { accessHash: hashToken(token) });
  return row?.grant_id ?? null;
}
