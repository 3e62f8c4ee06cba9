/** The apps that a person has connected. */
import { recordAccountEvent } from '../../audit/account-events.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Caller } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import { transact } from '../../db/client.ts';
import { secondsOf } from '../../db/columns.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { sqlIn } from '../../db/sql.ts';
import { float, int, nullable, statement, text, texts, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { SessionCall } from '../auth/own-sessions.ts';
import { hostOf } from './redirect-uris.ts';
import type { AppInput, ConnectedApp } from './schemas.ts';

const appsOf = pagedList('list-connected-apps', {
  order: byTime('g.created_at', 'g.id', 'desc'),
  params: { userId: int, now: time },
  returns: {
    id: int,
    name: text,
    redirect_uri: text,
    workspace_id: int,
    workspace_name: text,
    scopes: texts,
    created_at: float,
    expires_at: float,
    last_used_at: nullable(float),
    last_used_address: nullable(text),
    ...timeKey,
  },
  sql: ({ after, window }) => `
    select g.id, c.name, g.redirect_uri, g.workspace_id, w.name as workspace_name, g.scopes,
      ${secondsOf('g.created_at')} as created_at, ${secondsOf('g.expires_at')} as expires_at,
      ${secondsOf('g.last_used_at')} as last_used_at, g.last_used_address, ${timeKeyOf('g.created_at')}
    from oauth_grants g
    join oauth_clients c on c.id = g.client_id
    join workspaces w on w.id = g.workspace_id
    where g.user_id = $userId and g.expires_at > $now ${after} ${window}`,
});

/** Lists the apps that the caller has connected, in all workspaces, newest first. */
export async function listApps(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { userId }: Caller,
  page: ListPageInput,
): Promise<Page<ConnectedApp>> {
  const params = { userId, now: clock.now() };
  const { entries, next_cursor } = await readPage(db.sql, appsOf, params, page, [userId]);
  const apps = entries.map(({ redirect_uri, page_key, scopes, ...app }) => ({
    ...app,
    scopes: [...scopes],
    redirect_host: hostOf(redirect_uri),
  }));
  return { entries: apps, next_cursor };
}

const endApp = statement('disconnect-app', {
  params: { id: int, userId: int },
  returns: { workspace_id: int, name: text },
  sql: `
    delete from oauth_grants g using oauth_clients c where g.id = $id and g.user_id = $userId and c.id = g.client_id
    returning g.workspace_id, c.name`,
});

/** Disconnects an app of the caller: its tokens stop working. Throws 404 "App not found". */
export function disconnectApp(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { caller, client }: Pick<SessionCall, 'caller' | 'client'>,
  { appId: id }: AppInput,
): Promise<{ ok: true }> {
  return transact(db, async (tx) => {
    const [ended] = await sqlIn(tx).run(endApp, { id, userId: caller.userId });
    if (ended === undefined) throw notFound('App');
    const { workspace_id: workspaceId, name } = ended;
    const at = clock.now();
    await recordAudit(tx, {
      workspaceId,
      at,
      actor: auditActorOf(caller),
      action: 'app.disconnected',
      target: { kind: 'app', id, name },
    });
    const details = { app: name, reason: 'user' };
    await recordAccountEvent(tx, { userId: caller.userId, at, action: 'app_disconnected', ...client, details });
    return { ok: true };
  });
}
