/** Takes messages out of the queue, in the transaction of the change that makes them pointless. */
import { DAY_MS } from '../core/time.ts';
import { int, nullable, type Sql, statement, text, texts, time } from '../db/statements.ts';

/** The longest time for which a limit counts messages. */
export const COUNTED_MS = DAY_MS;

const dropByKey = statement('drop-mails', {
  params: { keys: texts, now: time },
  sql: `
    update mail_messages set state = 'dropped', data = null, ended_at = $now
    where dedupe_key = any($keys) and state = 'queued'`,
});

const dropInvitations = statement('drop-invitation-mails', {
  params: { workspaceId: int, addresses: texts, now: time },
  sql: `
    update mail_messages set state = 'dropped', data = null, ended_at = $now
    where to_address = any($addresses) and kind = 'workspace-invitation' and workspace_id = $workspaceId
      and state = 'queued'`,
});

/**
 * What is left of younger messages names nobody. Without it, erasing would be a way around the limits of mail. It is no
 * longer kept to be read, and counts as sent.
 */
const eraseByAddress = statement('erase-mails-to-address', {
  params: { address: text, workspaceId: nullable(int), now: time, counted: time },
  returns: { id: int },
  sql: `
    with found as (
      select id, coalesce(ended_at, $now) > $counted as is_counted from mail_messages
      where to_address = $address and ($workspaceId is null or workspace_id = $workspaceId)
      order by id for update),
    erased as (
      update mail_messages m
      set to_address = '', mailbox = erased_mailbox(m.mailbox), data = null, dedupe_key = null, last_error = null,
        state = case m.state when 'queued' then 'dropped' when 'kept' then 'sent' else m.state end,
        ended_at = coalesce(m.ended_at, $now)
      from found f where m.id = f.id and f.is_counted),
    deleted as (
      delete from mail_messages m using found f where m.id = f.id and not f.is_counted)
    select id from found`,
});

/** Drops the messages with these `dedupeKey`s that are still queued. */
export async function dropMails(sql: Sql, keys: readonly string[], now: Date): Promise<void> {
  if (keys.length > 0) await sql.run(dropByKey, { keys, now });
}

/** Drops the invitations to these addresses that a workspace has queued. */
export async function dropInvitationMails(
  sql: Sql,
  { workspaceId, addresses, now }: { workspaceId: number; addresses: readonly string[]; now: Date },
): Promise<void> {
  if (addresses.length > 0) await sql.run(dropInvitations, { workspaceId, addresses, now });
}

/**
 * Erases all messages to an address, sent or not, or only those of a workspace. Those of the last day are counted until
 * `pruneMail` deletes them. Returns how many messages there were.
 */
export async function eraseMailsTo(
  sql: Sql,
  { address, workspaceId = null, now }: { address: string; workspaceId?: number | null; now: Date },
): Promise<number> {
  const counted = new Date(now.getTime() - COUNTED_MS);
  return (await sql.run(eraseByAddress, { address, workspaceId, now, counted })).length;
}
