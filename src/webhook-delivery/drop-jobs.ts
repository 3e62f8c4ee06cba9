import type { Clock } from '../core/time.ts';
import { type Database, type Tx, transact } from '../db/client.ts';
import { lockWebhooks } from './lock-webhooks.ts';
import { cancelIfUnwanted } from './pending-messages.ts';
import type { DeliveryQueue, Lease, WebhookRef } from './queue.ts';

/**
 * Completes leased jobs for which nothing is sent, and cancels those of their messages that the webhook no longer
 * wants. The jobs of webhooks that are being deleted stay: another worker gets them when their leases have expired.
 */
export function dropJobs(
  { db, clock, queue }: { db: Database; clock: Clock; queue: DeliveryQueue },
  leases: readonly Lease[],
): Promise<void> {
  return transact(db, async (tx) => {
    const webhooks = await findWebhooks(tx, leases);
    const { isBeingDeleted } = await lockWebhooks(tx, [...webhooks.values()]);
    const dropped = leases.filter(({ id }) => {
      const webhook = webhooks.get(id);
      return webhook === undefined || !isBeingDeleted(webhook);
    });
    await cancelIfUnwanted(
      tx,
      clock.now(),
      dropped.map(({ id, data }) => ({ id, ...data })),
    );
    await queue.complete(tx, dropped);
  });
}

/** Returns, by job, the webhooks whose messages still wait for one of these jobs. */
async function findWebhooks(tx: Tx, leases: readonly Lease[]): Promise<Map<string, WebhookRef>> {
  const keys = JSON.stringify(leases.map(({ id, data }) => ({ id, ...data })));
  const rows = await tx.$queryRaw<(WebhookRef & { jobId: string })[]>`
    select j.id::text as "jobId", m.workspace_id as "workspaceId", m.webhook_id as "webhookId"
    from json_to_recordset(${keys}::json) as j (id uuid, "workspaceId" int, "messageId" text)
    join webhook_messages m on m.workspace_id = j."workspaceId" and m.id = j."messageId"
    where m.job_id = j.id and m.status = 'waiting'`;
  return new Map(rows.map(({ jobId, ...webhook }) => [jobId, webhook]));
}
