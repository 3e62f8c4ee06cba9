/** Lists and ends the sessions of the caller. */
import { type AccountAction, recordAccountEvent } from '../../audit/account-events.ts';
import { type Caller, idleSince } from '../../auth/identify.ts';
import { toEnum } from '../../core/enums.ts';
import { notFound } from '../../core/errors.ts';
import type { ListPageInput, Page } from '../../core/list-page.ts';
import { type Tx, transact } from '../../db/client.ts';
import { secondsOf } from '../../db/columns.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { float, int, nullable, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { type Client, describeDevice } from './devices.ts';
import { type EndedSessions, type EndSessionInput, type OwnSession, signInMethods } from './schemas.ts';

/** A call with a session, and the client that made it. */
export type SessionCall = { caller: Caller; sessionId: number; client: Client };

type Dependencies = Pick<Services, 'db' | 'clock'>;

const sessionsOf = pagedList('list-sessions', {
  order: byTime('s.created_at', 'id', 'desc'),
  params: { userId: int, now: time, idleSince: time },
  returns: {
    id: int,
    user_agent: nullable(text),
    address: nullable(text),
    method: text,
    created_at: float,
    authenticated_at: float,
    last_used_at: float,
    expires_at: float,
    ...timeKey,
  },
  sql: ({ after, window }) => `
    select id, user_agent, address, method, ${secondsOf('created_at')} as created_at,
      ${secondsOf('authenticated_at')} as authenticated_at, ${secondsOf('last_used_at')} as last_used_at,
      ${secondsOf('expires_at')} as expires_at, ${timeKeyOf('s.created_at')}
    from sessions s
    where user_id = $userId and expires_at > $now and last_used_at > $idleSince ${after} ${window}`,
});

/** Lists the sessions of the caller that have not ended, newest first. */
export async function listSessions(
  { db, clock, settings }: Pick<Services, 'db' | 'clock' | 'settings'>,
  { caller: { userId }, sessionId }: Pick<SessionCall, 'caller' | 'sessionId'>,
  page: ListPageInput,
): Promise<Page<OwnSession>> {
  const now = clock.now();
  const params = { userId, now, idleSince: idleSince(settings, now) };
  const { entries, next_cursor } = await readPage(db.sql, sessionsOf, params, page, [userId]);
  const sessions = entries.map(({ user_agent, method, page_key, ...session }) => ({
    ...session,
    method: toEnum(signInMethods, method, 'sign-in method'),
    device: describeDevice(user_agent),
    is_current: session.id === sessionId,
  }));
  return { entries: sessions, next_cursor };
}

/** Ends the current session. */
export function logout(services: Dependencies, call: SessionCall): Promise<{ ok: true }> {
  return transact(services.db, async (tx) => {
    const { count } = await tx.session.deleteMany({ where: { id: call.sessionId } });
    if (count > 0) await recordEnd(services, tx, call, 'signed_out', {});
    return { ok: true };
  });
}

/** Ends a session of the caller, which may be the current one. Throws 404 "Session not found". */
export function endSession(
  services: Dependencies,
  call: SessionCall,
  { sessionId: id }: EndSessionInput,
): Promise<{ ok: true }> {
  return transact(services.db, async (tx) => {
    const { count } = await tx.session.deleteMany({ where: { id, userId: call.caller.userId } });
    if (count === 0) throw notFound('Session');
    await recordEnd(services, tx, call, 'session_ended', { session_id: id });
    return { ok: true };
  });
}

/** Ends all sessions of the caller except the current one. */
export function endOtherSessions(services: Dependencies, call: SessionCall): Promise<EndedSessions> {
  return transact(services.db, async (tx) => {
    const { count: ended } = await tx.session.deleteMany({
      where: { userId: call.caller.userId, NOT: { id: call.sessionId } },
    });
    await recordEnd(services, tx, call, 'sessions_ended', { ended });
    return { ended };
  });
}

function recordEnd(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  { caller, client }: SessionCall,
  action: AccountAction,
  details: Record<string, number>,
): Promise<void> {
  return recordAccountEvent(tx, { userId: caller.userId, at: clock.now(), action, ...client, details });
}
