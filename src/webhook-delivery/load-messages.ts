/** Loads the messages of leased jobs, just before they are sent. */
import { bool, bytes, int, json, nullable, type RowOf, type Sql, statement, text, time } from '../db/statements.ts';
import { isWanted } from './pending-messages.ts';
import type { DeliveryJob, Lease } from './queue.ts';

const findMessages = statement('load-messages', {
  params: { jobs: json<DeliveryJob[]>() },
  returns: {
    workspaceId: int,
    id: text,
    webhookId: int,
    event: text,
    sequence: nullable(text),
    payload: text,
    traceparent: nullable(text),
    status: text,
    roundAttempts: int,
    jobId: nullable(text),
    url: text,
    isWanted: bool,
    isSlow: bool,
    failureCount: int,
    sealedSecret: bytes,
    previousSealedSecret: nullable(bytes),
    previousSecretUntil: nullable(time),
  },
  // The limits make PostgreSQL look up each row in an index, whatever its statistics say about the size of the tables.
  sql: `
    select m.workspace_id as "workspaceId", m.id, m.webhook_id as "webhookId", m.event, m.sequence::text, m.payload,
      m.traceparent, m.status, m.round_attempts as "roundAttempts", m.job_id::text as "jobId", w.url,
      ${isWanted} as "isWanted", w.is_slow as "isSlow", w.failure_count as "failureCount",
      w.sealed_secret as "sealedSecret", w.previous_sealed_secret as "previousSealedSecret",
      w.previous_secret_until as "previousSecretUntil"
    from jsonb_to_recordset($jobs) as k ("workspaceId" int, "messageId" text)
    cross join lateral (
      select * from webhook_messages where workspace_id = k."workspaceId" and id = k."messageId" limit 1) m
    cross join lateral (
      select * from webhooks where workspace_id = m.workspace_id and id = m.webhook_id limit 1) w`,
});

/**
 * A message with its webhook, both in their current state. `sequence` is null for a test message, which is not in the
 * event log. `isWanted` is false if the webhook is inactive or no longer subscribes to the event.
 */
export type LoadedMessage = RowOf<typeof findMessages>;

export type LeasedMessage = { lease: Lease; message: LoadedMessage };

/** Returns the messages of these jobs by message ID. Deleted messages are missing. */
export async function loadMessages(sql: Sql, leases: readonly Lease[]): Promise<Map<string, LoadedMessage>> {
  const rows = await sql.run(findMessages, { jobs: leases.map(({ data }) => data) });
  return new Map(rows.map((row) => [row.id, row]));
}
