/** The log of an account, which shows its user what happened to it. */
import { insertAccountEvent, pruneAccountEvents } from '../../audit/account-events.ts';
import type { Caller } from '../../auth/identify.ts';
import { runInBackground } from '../../core/call-bounds.ts';
import type { Page } from '../../core/list-page.ts';
import { DAY_MS } from '../../core/time.ts';
import { secondsOf } from '../../db/columns.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { float, int, json, nullable, oneOf, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { AccountEvent, AccountLogInput } from './account-log-schemas.ts';
import type { Client } from './devices.ts';

const eventsOf = pagedList('list-account-events', {
  order: { ...byTime('e.created_at', 'e.id', 'desc'), idType: 'number' },
  params: { userId: int },
  returns: {
    id: float,
    action: oneOf<AccountEvent['action']>(),
    created_at: float,
    last_at: float,
    count: int,
    address: nullable(text),
    user_agent: nullable(text),
    details: json<AccountEvent['details']>(),
    ...timeKey,
  },
  sql: ({ after, window }) => `
    select e.id::float8 as id, e.action, ${secondsOf('e.created_at')} as created_at,
      ${secondsOf('e.last_at')} as last_at, e.count, e.address, e.user_agent, e.details, ${timeKeyOf('e.created_at')}
    from account_events e
    where e.user_id = $userId ${after} ${window}`,
});

/** Lists the events of the caller's account, newest first. */
export function listAccountLog(
  { db }: Pick<Services, 'db'>,
  { userId }: Caller,
  page: AccountLogInput,
): Promise<Page<AccountEvent>> {
  return readPage(db.sql, eventsOf, { userId }, page, []);
}

/**
 * Records that a wrong password was entered for an account, in a sign-in or to confirm the user's identity. Runs after
 * the response: otherwise, the response to a wrong password would take longer than the response to an unknown address.
 * The failures within an hour share a row, so strangers cannot fill the log.
 */
export function recordFailedSignIn(
  { db, clock, log }: Pick<Services, 'db' | 'clock' | 'log'>,
  userId: number,
  client: Client,
): void {
  const event = {
    userId,
    at: clock.now(),
    action: 'sign_in_failed',
    details: { method: 'password' },
    ...client,
  } as const;
  runInBackground(() => insertAccountEvent(db.sql, event)).catch((error: unknown) =>
    log.warn({ err: error }, 'Failed to record a failed sign-in'),
  );
}

/** Deletes old events. */
export async function pruneAccountLogs({
  db,
  clock,
  settings,
}: Pick<Services, 'db' | 'clock' | 'settings'>): Promise<void> {
  const before = new Date(clock.now().getTime() - settings.accountLogDays * DAY_MS);
  await pruneAccountEvents(db.sql, before);
}
