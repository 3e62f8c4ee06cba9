/** Takes messages out of the queue, in the transaction of the change that makes them pointless. */
import { int, type Sql, statement, text, texts, time } from '../db/statements.ts';

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

const deleteByAddress = statement('delete-mails-to-address', {
  params: { address: text },
  sql: 'delete from mail_messages where to_address = $address',
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

/** Deletes all messages to an address, sent or not. */
export async function deleteMailsTo(sql: Sql, address: string): Promise<void> {
  await sql.run(deleteByAddress, { address });
}
