/** Loads the messages of leased jobs, just before they are sent. */
import type { Database } from '../db/client.ts';
import { isWanted } from './pending-messages.ts';
import type { Lease } from './queue.ts';

/** A message with its webhook, both as they are now. */
export type LoadedMessage = {
  workspaceId: number;
  id: string;
  webhookId: number;
  event: string;
  /** Null for a test message, which is not in the event log. */
  sequence: bigint | null;
  payload: string;
  status: string;
  roundAttempts: number;
  jobId: string | null;
  url: string;
  /** false: the webhook is inactive, or no longer subscribes to the event. */
  isWanted: boolean;
  isSlow: boolean;
  failureCount: number;
  sealedSecret: Uint8Array;
  previousSealedSecret: Uint8Array | null;
  previousSecretUntil: Date | null;
};

export type LeasedMessage = { lease: Lease; message: LoadedMessage };

/** Returns the messages of these jobs by message id, without those that have been deleted. */
export async function loadMessages(db: Database, leases: readonly Lease[]): Promise<Map<string, LoadedMessage>> {
  const keys = JSON.stringify(leases.map(({ data }) => data));
  const rows = await db.$queryRaw<LoadedMessage[]>`
    select m.workspace_id as "workspaceId", m.id, m.webhook_id as "webhookId", m.event, m.sequence, m.payload,
      m.status,
      m.round_attempts as "roundAttempts", m.job_id as "jobId", w.url, ${isWanted} as "isWanted", w.is_slow as "isSlow",
      w.failure_count as "failureCount", w.sealed_secret as "sealedSecret",
      w.previous_sealed_secret as "previousSealedSecret", w.previous_secret_until as "previousSecretUntil"
    from json_to_recordset(${keys}::json) as k ("workspaceId" int, "messageId" text)
    join webhook_messages m on m.workspace_id = k."workspaceId" and m.id = k."messageId"
    join webhooks w on w.workspace_id = m.workspace_id and w.id = m.webhook_id`;
  return new Map(rows.map((row) => [row.id, row]));
}
