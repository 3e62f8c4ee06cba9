import { randomBytes } from 'node:crypto';
import { toMailbox } from '../core/mailbox.ts';
import type { SealContext } from '../core/sealing.ts';
import { HOUR_MS } from '../core/time.ts';
import { json, type Sql, statement, text, time } from '../db/statements.ts';
import type { Services } from '../services.ts';
import { type MailData, type MailKind, mailKinds } from './kinds.ts';

/** A message to one recipient. */
export type NewMail = {
  [Kind in MailKind]: {
    kind: Kind;
    /** The normalized address. */
    to: string;
    data: MailData[Kind];
    /** The workspace on whose behalf the message is sent. Absent for mail about an account. */
    workspaceId?: number;
    /** The user whose limit of a day counts it. */
    senderId?: number;
    /** Only one message with the same key is queued. */
    dedupeKey?: string;
    /**
     * Sends it only if an account has the address when the message is due to be sent. Used where the request must not
     * reveal whether any account has the address.
     */
    needsAccount?: boolean;
    /** When to send it. Default: at once. */
    dueAt?: Date;
    /** When to drop the message if it has not been sent by then. Default: when its link expires. */
    expiresAt?: Date;
  };
}[MailKind];

/** A message in the form that the statement inserts. */
type MailRow = {
  message_id: string;
  kind: MailKind;
  to_address: string;
  mailbox: string;
  workspace_id: number | null;
  sender_id: number | null;
  /** The sealed data, in base64. */
  data: string;
  needs_account: boolean;
  dedupe_key: string | null;
  due_at: Date | null;
  expires_at: Date | null;
  max_per_hour: number;
  is_owed: boolean;
  /** Whether the limit is exact. Its count locks the mailbox, so it is not used for mail to many people at once. */
  is_exact: boolean;
};

/**
 * While this many messages of a kind wait, further ones that expire are queued only if the guest or the host of a
 * meeting must get them. Notices about an account do not expire, and are still queued, because strangers cannot cause
 * many of them.
 */
const MAX_QUEUED = 10_000;

/**
 * Whether the queue has room for another message `m` of its kind. Those that are sent later take no room, so that they
 * delay nobody. A partial index covers the queued messages.
 */
const hasRoom = `(
  select count(*) from (
    select from mail_messages q
    where q.state = 'queued' and q.kind = m.kind and q.due_at <= $mailAt
    limit ${MAX_QUEUED}) q) < ${MAX_QUEUED}`;

/** The parameters of `mailParts`. `toMailParams` returns their values. */
const mailParams = { mails: json<MailRow[]>('json'), mailAt: time, mailSince: time };

/**
 * A part of a statement that queues the messages if `condition` is true. It is named `mail`, and returns the
 * `message_id` of each message that was queued.
 */
function mailParts(condition = 'true'): string {
  return `
    mail as (
      insert into mail_messages (message_id, kind, to_address, mailbox, workspace_id, sender_id, data, needs_account,
        dedupe_key, created_at, due_at, expires_at)
      select m.message_id, m.kind, m.to_address, m.mailbox, m.workspace_id, m.sender_id, decode(m.data, 'base64'),
        m.needs_account, m.dedupe_key, $mailAt, coalesce(m.due_at, $mailAt), m.expires_at
      from (
        select n.*, row_number() over recipient as number,
          -- A whole partition is counted before its first message is inserted. Their order is that of the locks.
          max(case when n.is_exact then count_mail(n.mailbox, n.kind, $mailSince) else (
            select count(*) from mail_messages o
            where o.mailbox in (n.mailbox, erased_mailbox(n.mailbox)) and o.kind = n.kind
              and o.created_at > $mailSince) end
          ) over recipient as earlier
        from json_to_recordset($mails) as n (message_id text, kind text, to_address text,
          mailbox text, workspace_id int, sender_id int, data text, needs_account bool, dedupe_key text,
          due_at timestamptz, expires_at timestamptz, max_per_hour int, is_owed bool, is_exact bool)
        window recipient as (partition by n.is_exact, hashtext(n.kind || ' ' || n.mailbox) & 1023, n.mailbox, n.kind)) m
      where ${condition}
        and (m.expires_at is null or m.is_owed or ${hasRoom})
        and m.earlier + m.number <= m.max_per_hour
      on conflict (dedupe_key) do nothing
      returning message_id)`;
}

const insertMails = statement('insert-mails', {
  params: mailParams,
  returns: { message_id: text },
  sql: `with ${mailParts()} select message_id from mail`,
});

/**
 * Queues a message in the transaction that makes the reported change, so that it is sent if and only if the change is
 * committed. A worker sends it at least once. Returns false if the message is not queued: the mailbox of the recipient
 * got too many of this kind within an hour, under whichever of its addresses, too many of this kind are waiting (unless
 * it is a notice or its kind has `isOwed`), or a message with this key exists.
 */
export async function queueMail(
  services: Pick<Services, 'sealer' | 'clock'>,
  sql: Sql,
  mail: NewMail,
): Promise<boolean> {
  return (await queueMails(services, sql, [mail])) > 0;
}

/** Like `queueMail`, for several messages in one statement. Returns the number of queued messages. */
export async function queueMails(
  services: Pick<Services, 'sealer' | 'clock'>,
  sql: Sql,
  mails: readonly NewMail[],
): Promise<number> {
  if (mails.length === 0) return 0;
  return (await sql.run(insertMails, toMailParams(services, mails))).length;
}

/** Returns the values of `mailParams`. */
function toMailParams({ sealer, clock }: Pick<Services, 'sealer' | 'clock'>, mails: readonly NewMail[]) {
  const now = clock.now();
  const rows = mails.map(
    ({ kind, to, data, workspaceId, senderId, dedupeKey, needsAccount = false, dueAt, expiresAt }): MailRow => {
      const { maxPerHour, lifetimeMs, isOwed = false } = mailKinds[kind];
      const messageId = randomBytes(16).toString('hex');
      const sealed = sealer.seal(JSON.stringify(data), mailSeal(messageId));
      return {
        message_id: messageId,
        kind,
        to_address: to,
        mailbox: toMailbox(to),
        workspace_id: workspaceId ?? null,
        sender_id: senderId ?? null,
        data: Buffer.from(sealed).toString('base64'),
        needs_account: needsAccount,
        dedupe_key: dedupeKey ?? null,
        due_at: dueAt ?? null,
        expires_at: expiresAt ?? (lifetimeMs === null ? null : new Date(now.getTime() + lifetimeMs)),
        max_per_hour: maxPerHour,
        is_owed: isOwed,
        is_exact: lifetimeMs !== null || kind === 'confirm-booking',
      };
    },
  );
  return { mails: rows, mailAt: now, mailSince: new Date(now.getTime() - HOUR_MS) };
}

/** The context with which the data of a message is sealed. */
export function mailSeal(messageId: string): SealContext {
  return { owner: `mail:${messageId}`, purpose: 'mail' };
}
