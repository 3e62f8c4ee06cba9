/** Writes the log of an account: sign-ins, and changes to how the account is secured. */

import { HOUR_MS } from '../core/time.ts';
import type { Tx } from '../db/client.ts';
import { DELETE_BATCH, inBatches } from '../db/in-batches.ts';
import { sqlIn } from '../db/sql.ts';
import { float, int, json, nullable, type Sql, statement, text, time } from '../db/statements.ts';

export const accountActions = [
  'registered',
  'signed_in',
  'sign_in_failed',
  'reauthenticated',
  'signed_out',
  'session_ended',
  'sessions_ended',
  'password_changed',
  'password_reset',
  'email_change_requested',
  'email_changed',
  'email_verified',
  'second_factor_enabled',
  'second_factor_disabled',
  'recovery_codes_created',
  'recovery_code_used',
  'passkey_added',
  'passkey_removed',
  'identity_linked',
  'identity_unlinked',
  'api_key_created',
  'api_key_rotated',
  'api_keys_revoked',
  'access_ended',
  'app_connected',
  'app_disconnected',
  'calendar_feed_created',
  'calendar_feed_deleted',
  'workspace_deleted',
  'data_exported',
  'account_locked',
  'account_unlocked',
] as const;
export type AccountAction = (typeof accountActions)[number];

/** Events that strangers can cause any number of times. Events of the same hour share one row. */
const repeatable: ReadonlySet<AccountAction> = new Set(['sign_in_failed']);

export type NewAccountEvent = {
  userId: number;
  at: Date;
  action: AccountAction;
  /** Null if an operator or the service itself acted. */
  address: string | null;
  userAgent?: string | null;
  /** Short facts, such as `{ method: 'passkey' }`. Never a secret. */
  details?: Readonly<Record<string, string | number | boolean | null>>;
};

/**
 * Adds an event. With `hour`, events with the same action share a row, which holds the latest event and a count. If the
 * account is being deleted, waits for the deletion to end, and then adds nothing.
 */
const insertEvent = statement('insert-account-event', {
  params: {
    userId: int,
    action: text,
    address: nullable(text),
    userAgent: nullable(text),
    details: json<object>(),
    at: time,
    hour: nullable(time),
  },
  sql: `
    insert into account_events as e (user_id, action, address, user_agent, details, created_at, hour, last_at)
    select id, $action, $address, $userAgent, $details, $at, $hour, $at from users where id = $userId for key share
    on conflict (user_id, action, hour) do update set count = e.count + 1, address = excluded.address,
      user_agent = excluded.user_agent, details = excluded.details, last_at = excluded.last_at`,
});

/** Adds an event to the account's log, in the transaction that causes it. Does nothing if the account is gone. */
export function recordAccountEvent(tx: Tx, event: NewAccountEvent): Promise<void> {
  return insertAccountEvent(sqlIn(tx), event);
}

/** Like `recordAccountEvent`, for callers that run named statements. */
export async function insertAccountEvent(
  sql: Sql,
  { userId, at, action, address, userAgent = null, details = {} }: NewAccountEvent,
): Promise<void> {
  const hour = repeatable.has(action) ? new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS) : null;
  await sql.run(insertEvent, {
    userId,
    action,
    address,
    userAgent,
    details,
    at,
    hour,
  });
}

const deleteEvents = statement('delete-account-events', {
  params: { before: time },
  returns: { id: float },
  sql: `
    delete from account_events where id in
      (select id from account_events where created_at < $before limit ${DELETE_BATCH})
    returning id::float8 as id`,
});

/** Deletes the events from before a time. */
export async function pruneAccountEvents(sql: Sql, before: Date): Promise<void> {
  await inBatches(DELETE_BATCH, async () => (await sql.run(deleteEvents, { before })).length);
}
