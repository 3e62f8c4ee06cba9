import { randomBytes } from 'node:crypto';
import type { SealContext } from '../core/sealing.ts';
import { HOUR_MS } from '../core/time.ts';
import { bool, bytes, int, nullable, type Sql, statement, text, time } from '../db/statements.ts';
import type { Services } from '../services.ts';
import { type MailData, type MailKind, mailKinds } from './kinds.ts';

/** A message to one recipient. */
export type NewMail = {
  [Kind in MailKind]: {
    kind: Kind;
    /** The normalized address. */
    to: string;
    data: MailData[Kind];
    /** A second message with the same key is not queued. */
    dedupeKey?: string;
    /** Sends it only if an account has the address by then. Used where the request must not reveal whether one has. */
    needsAccount?: boolean;
  };
}[MailKind];

/** While so many messages wait, none with a link is queued. Notices are, because strangers cannot cause many. */
const MAX_QUEUED = 10_000;

const insertMail = statement('insert-mail', {
  params: {
    messageId: text,
    kind: text,
    to: text,
    data: bytes,
    needsAccount: bool,
    dedupeKey: nullable(text),
    now: time,
    expiresAt: nullable(time),
    since: time,
    maxPerHour: int,
  },
  returns: { id: int },
  sql: `
    insert into mail_messages (message_id, kind, to_address, data, needs_account, dedupe_key, created_at, due_at,
      expires_at)
    select $messageId, $kind, $to, $data, $needsAccount, $dedupeKey, $now, $now, $expiresAt
    where (select count(*) from mail_messages where to_address = $to and kind = $kind and created_at > $since)
        < $maxPerHour
      and ($expiresAt is null
        or (select count(*) from (select from mail_messages where state = 'queued' limit ${MAX_QUEUED}) q)
          < ${MAX_QUEUED})
    on conflict (dedupe_key) do nothing
    returning id`,
});

/**
 * Queues a message, in the transaction of what it reports, so that it is sent if and only if that is committed. Returns
 * whether it is queued: it is not if the recipient got too many of its kind within an hour, if too many messages wait
 * (unless it is a notice), or if one with its key exists. A worker sends it, at least once.
 */
export async function queueMail(
  { sealer, clock }: Pick<Services, 'sealer' | 'clock'>,
  sql: Sql,
  { kind, to, data, dedupeKey, needsAccount = false }: NewMail,
): Promise<boolean> {
  const now = clock.now();
  const { maxPerHour, lifetimeMs } = mailKinds[kind];
  const messageId = randomBytes(16).toString('hex');
  const inserted = await sql.run(insertMail, {
    messageId,
    kind,
    to,
    data: sealer.seal(JSON.stringify(data), mailSeal(messageId)),
    needsAccount,
    dedupeKey: dedupeKey ?? null,
    now,
    expiresAt: lifetimeMs === null ? null : new Date(now.getTime() + lifetimeMs),
    since: new Date(now.getTime() - HOUR_MS),
    maxPerHour,
  });
  return inserted.length > 0;
}

/** What the data of a message is sealed with. */
export function mailSeal(messageId: string): SealContext {
  return { owner: `mail:${messageId}`, purpose: 'mail' };
}
