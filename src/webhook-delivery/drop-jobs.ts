import type { Clock } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { int, json, type Sql, statement, text } from '../db/statements.ts';
import { transactByIndex } from './by-index.ts';
import { lockWebhooks } from './lock-webhooks.ts';
import { cancelIfUnwanted, type JobRef } from './pending-messages.ts';
import type { DeliveryQueue, Lease, WebhookRef } from './queue.ts';

/**
 * Completes leased jobs for which nothing is sent. Cancels their messages if the webhook no longer wants them. The jobs
 * of webhooks that are being deleted stay: another worker gets them when their leases have expired.
 */
export function dropJobs(
  { db, clock, queue }: { db: Database; clock: Clock; queue: DeliveryQueue },
  leases: readonly Lease[],
): Promise<void> {
  return transactByIndex(db.sql, async (sql) => {
    const webhooks = await findWebhooks(sql, leases);
    const { isBeingDeleted } = await lockWebhooks(sql, [...webhooks.values()]);
    const dropped = leases.filter(({ id }) => {
      const webhook = webhooks.get(id);
      return webhook === undefined || !isBeingDeleted(webhook);
    });
    await cancelIfUnwanted(
      sql,
      clock.now(),
      dropped.map(({ id, data }) => ({ id, ...data })),
    );
    await queue.drop(sql, dropped);
  });
}

const findStatement = statement('find-webhooks-of-jobs', {
  plansAnew: true,
  params: { jobs: json<JobRef[]>() },
  returns: { jobId: text, workspaceId: int, webhookId: int },
  sql: `
    select j.id::text as "jobId", m.workspace_id as "workspaceId", m.webhook_id as "webhookId"
    from jsonb_to_recordset($jobs) as j (id uuid, "workspaceId" int, "messageId" text)
    join webhook_messages m on m.workspace_id = j."workspaceId" and m.id = j."messageId"
    where m.job_id = j.id and m.status = 'waiting'`,
});

/** Returns, by job, the webhooks whose messages still wait for one of these jobs. */
async function findWebhooks(sql: Sql, leases: readonly Lease[]): Promise<Map<string, WebhookRef>> {
  const rows = await sql.run(findStatement, { jobs: leases.map(({ id, data }) => ({ id, ...data })) });
  return new Map(rows.map(({ jobId, ...webhook }) => [jobId, webhook]));
}
