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
  ints,
  json,
  nullable,
  oneOf,
  type RowOf,
  type Sql,
  statement,
  text,
  texts,
  time,
} from '../db/statements.ts';
import { type MailKind, type MailLane, type MailSource, mailKinds, mailLanes } from './kinds.ts';
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

/** A kind of mail that may be leased, its position in its lane, and how many messages of the lane may be leased. */
type LeasableKind = { kind: MailKind; lane: MailLane; position: number; max: number };

/** An invitation `m` can wait for days. Meanwhile its workspace may have been deleted, or the invitation revoked. */
export const isInvited = `exists (
          select from invitations i
          where i.workspace_id = m.workspace_id and i.email = m.to_address and i.state = 'pending')`;

const leaseMail = statement('lease-mail', {
  params: { now: time, leasedUntil: time, kinds: json<readonly LeasableKind[]>('json'), held: ints },
  returns: { ...columns, is_wanted: bool },
  sql: `
    with due as (
      select q.id, k.max, row_number() over (partition by k.lane order by q.turn, k.position) as place
      from json_to_recordset($kinds) as k (kind text, lane text, position int, max int)
      cross join lateral (
        select c.id, c.due_at, row_number() over (order by c.due_at, c.id) as turn from (
          select id, due_at from mail_messages
          where state = 'queued' and kind = k.kind and due_at <= $now and id <> all($held)
          order by due_at, id limit k.max for update skip locked) c) q)
    update mail_messages m set attempts = m.attempts + 1, due_at = $leasedUntil
    from due where m.id = due.id and due.place <= due.max
    returning m.id, m.message_id, m.kind, m.to_address, m.data, m.attempts, m.created_at,
      coalesce(m.expires_at > $now, true) and (
        not m.needs_account
        or exists (select from users u where u.email = m.to_address and u.locked_at is null))
        and (m.kind <> 'workspace-invitation' or m.workspace_id is null or ${isInvited}) as is_wanted`,
});

const renewStatement = statement('renew-mail-leases', {
  params: { leasedUntil: time, leases: json<readonly Lease[]>('json') },
  returns: { id: int },
  sql: `
    update mail_messages m set due_at = $leasedUntil
    from json_to_recordset($leases) as l (id int, attempts int)
    where m.id = l.id and m.attempts = l.attempts and m.state = 'queued' returning m.id`,
});

/** A message that is leased is due when its lease ends. Messages of unknown kinds are left to other versions. */
const nextStatement = statement('find-next-mail', {
  params: { kinds: texts },
  returns: { dueAt: nullable(time) },
  sql: `
    select min(q.due_at) as "dueAt" from unnest($kinds) as k (kind)
    cross join lateral (
      select due_at from mail_messages where state = 'queued' and kind = k.kind order by due_at limit 1) q`,
});

/** Reads the messages that were queued first, up to 10,000. */
const readBacklog = statement('read-mail-backlog', {
  params: {},
  returns: { due: int, scheduled: int, oldestSeconds: float },
  sql: `
    with waiting as (select due_at from mail_messages where ended_at is null order by id limit 10000)
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
    where id = $id and state = 'queued' and (attempts = $attempts or $state = 'sent')`,
});

/** A message that this process may send until its lease ends. */
export type LeasedMail = RowOf<typeof leaseMail>;

/** A lease is identified by the number of the attempt for which it was granted. */
type Lease = Pick<LeasedMail, 'id' | 'attempts'>;

/**
 * Leases messages that are due, in each lane only so many that, with those that this process holds, they take no more
 * than the connections of the lane. No other worker gets them before `leasedUntil`. In a lane, the first message of
 * each kind comes before the second of any kind, in the order of `kinds`.
 */
export async function leaseDueMail(
  { sql }: Pick<Database, 'sql'>,
  {
    now,
    leasedUntil,
    held,
    kinds,
  }: { now: Date; leasedUntil: Date; held: readonly LeasedMail[]; kinds: readonly MailKind[] },
): Promise<LeasedMail[]> {
  const leasable = kinds.flatMap((kind, position) => {
    const { lane } = mailKinds[kind];
    const max = mailLanes[lane] - held.filter((mail) => mailKinds[mail.kind].lane === lane).length;
    return max > 0 ? { kind, lane, position, max } : [];
  });
  if (leasable.length === 0) return [];
  return sql.run(leaseMail, { now, leasedUntil, kinds: leasable, held: held.map(({ id }) => id) });
}

/**
 * Extends leases to `leasedUntil`. Resolves with those that have not ended: another worker may have got the message.
 */
export async function renewLeases<Held extends Lease>(
  { sql }: Pick<Database, 'sql'>,
  leases: readonly Held[],
  leasedUntil: Date,
): Promise<Held[]> {
  const sent = leases.map(({ id, attempts }) => ({ id, attempts }));
  const renewed = new Set((await sql.run(renewStatement, { leases: sent, leasedUntil })).map(({ id }) => id));
  return leases.filter(({ id }) => renewed.has(id));
}

/** When the next message can be leased; null if none waits. */
export async function findNextMail({ sql }: Pick<Database, 'sql'>, kinds: readonly MailKind[]): Promise<Date | null> {
  return onlyRow(await sql.run(nextStatement, { kinds })).dueAt;
}

export type MailBacklog = RowOf<typeof readBacklog>;

/** How many messages are due now or scheduled for later, and for how long the oldest has been due (0 if none is). */
export async function readMailBacklog(sql: Sql): Promise<MailBacklog> {
  return onlyRow(await sql.run(readBacklog, {}));
}

/** The outcome of an attempt. `dueAt` is the next attempt of a message that stays `queued`. */
export type MailResult = { state: MailState; dueAt?: Date; lastError?: string };

/**
 * Records an attempt. If the lease has ended and another worker has made a later attempt, only a success is recorded:
 * the message has arrived, so no further attempt follows.
 */
export async function recordAttempt(
  { sql }: Pick<Database, 'sql'>,
  { id, attempts }: Lease,
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
