/**
 * The message table, from the worker's side. A message is first `queued`. Later it is `sent`; or `kept`, so that it can
 * be read when there is no mail server; or `failed` for good; or `dropped`, because it is no longer needed.
 */
import type { Sealer } from '../core/sealing.ts';
import type { Database } from '../db/client.ts';
import { onlyRow } from '../db/only-row.ts';
import {
  bool,
  bytes,
  float,
  int,
  nullable,
  oneOf,
  type RowOf,
  type Sql,
  statement,
  text,
  time,
} from '../db/statements.ts';
import type { MailKind, MailSource } from './kinds.ts';
import { mailSeal } from './queue-mail.ts';
import { type RenderedMail, renderMail } from './render-mail.ts';
import type { MailContent } from './templates/content.ts';
import { templates } from './templates/index.ts';

export type MailState = 'queued' | 'sent' | 'kept' | 'failed' | 'dropped';

const columns = {
  id: int,
  message_id: text,
  kind: oneOf<MailKind>(),
  to_address: text,
  data: bytes,
  attempts: int,
  created_at: time,
};

const leaseMail = statement('lease-mail', {
  params: { now: time, leasedUntil: time, max: int },
  returns: { ...columns, is_wanted: bool },
  sql: `
    with due as (
      select id from mail_messages where state = 'queued' and due_at <= $now
      order by due_at, id limit $max for update skip locked)
    update mail_messages m set attempts = m.attempts + 1, due_at = $leasedUntil
    from due where m.id = due.id
    returning m.id, m.message_id, m.kind, m.to_address, m.data, m.attempts, m.created_at,
      coalesce(m.expires_at > $now, true) and (
        not m.needs_account
        or exists (select from users u where u.email = m.to_address and u.locked_at is null)) as is_wanted`,
});

/** Reads the start of the queue's index, which is sorted by due time. Counts up to 10,000. */
const readBacklog = statement('read-mail-backlog', {
  params: {},
  returns: { due: int, scheduled: int, oldestSeconds: float },
  sql: `
    with waiting as (select due_at from mail_messages where state = 'queued' order by due_at, id limit 10000)
    select count(*) filter (where due_at <= now())::int as due,
      count(*) filter (where due_at > now())::int as scheduled,
      coalesce(greatest(0, extract(epoch from now() - min(due_at))), 0)::float8 as "oldestSeconds"
    from waiting`,
});

const recordMail = statement('record-mail', {
  params: {
    id: int,
    attempts: int,
    state: oneOf<MailState>(),
    now: time,
    dueAt: nullable(time),
    lastError: nullable(text),
  },
  sql: `
    update mail_messages set state = $state, last_error = $lastError, due_at = coalesce($dueAt, due_at),
      ended_at = case when $state <> 'queued' then $now end,
      data = case when $state in ('queued', 'kept') then data end
    where id = $id and attempts = $attempts and state = 'queued'`,
});

/** A message that this process may send until its lease ends. */
export type LeasedMail = RowOf<typeof leaseMail>;

/** Leases at most `max` messages that are due. No other worker gets them before `leasedUntil`. */
export function leaseDueMail(
  { sql }: Pick<Database, 'sql'>,
  { now, leasedUntil, max }: { now: Date; leasedUntil: Date; max: number },
): Promise<LeasedMail[]> {
  return sql.run(leaseMail, { now, leasedUntil, max });
}

export type MailBacklog = RowOf<typeof readBacklog>;

/** How many messages are due now or scheduled for later, and for how long the oldest has been due (0 if none is). */
export async function readMailBacklog(sql: Sql): Promise<MailBacklog> {
  return onlyRow(await sql.run(readBacklog, {}));
}

/** The outcome of an attempt. `dueAt` is the next attempt of a message that stays `queued`. */
export type MailResult = { state: MailState; dueAt?: Date; lastError?: string };

/** Records an attempt, unless the lease has ended and another worker has made a later one. */
export async function recordAttempt(
  { sql }: Pick<Database, 'sql'>,
  { id, attempts }: Pick<LeasedMail, 'id' | 'attempts'>,
  { state, dueAt, lastError }: MailResult,
  now: Date,
): Promise<void> {
  await sql.run(recordMail, { id, attempts, state, now, dueAt: dueAt ?? null, lastError: lastError ?? null });
}

/** Opens the data of a message and renders it. Throws if it was sealed with another key. */
export function openMail(
  sealer: Sealer,
  { message_id, kind, data }: Pick<LeasedMail, 'message_id' | 'kind' | 'data'>,
  source: MailSource,
): RenderedMail {
  // `as`: `queueMail` stores the data that belongs to `kind`, and each kind has a template for its data.
  const render = templates[kind] as (data: unknown) => MailContent;
  return renderMail(render(JSON.parse(sealer.open(data, mailSeal(message_id)))), source);
}
