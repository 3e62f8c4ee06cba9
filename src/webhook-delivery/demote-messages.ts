import { randomUUID } from 'node:crypto';
import type { Database } from '../db/client.ts';
import { json, statement, text } from '../db/statements.ts';
import { transactByIndex } from './by-index.ts';
import type { LeasedMessage } from './load-messages.ts';
import { lockWebhooks } from './lock-webhooks.ts';
import type { JobRef } from './pending-messages.ts';
import { type DeliveryQueue, toSlowRank } from './queue.ts';

const moveMessages = statement('demote-messages', {
  plansAnew: true,
  params: { moves: json<(JobRef & { from: string })[]>() },
  returns: { id: text },
  sql: `
    update webhook_messages m set job_id = j.id
    from jsonb_to_recordset($moves) as j (id uuid, "from" uuid, "workspaceId" int, "messageId" text)
    where m.workspace_id = j."workspaceId" and m.id = j."messageId" and m.job_id = j."from" and m.status = 'waiting'
    returning j.id::text`,
});

/**
 * Moves leased messages to the slow lane: each gets a new job there, in place of the leased one. The jobs of webhooks
 * that are being deleted stay: another worker gets them when their leases have expired.
 */
export function demoteMessages(db: Database, queue: DeliveryQueue, leased: readonly LeasedMessage[]): Promise<void> {
  return transactByIndex(db.sql, async (sql) => {
    const { isBeingDeleted } = await lockWebhooks(
      sql,
      leased.map(({ message }) => message),
    );
    const misplaced = leased.filter(({ message }) => !isBeingDeleted(message));
    const moves = misplaced.map(({ lease, message: { workspaceId, id, webhookId, failureCount } }) => {
      return {
        workspaceId,
        webhookId,
        messageId: id,
        from: lease.id,
        id: randomUUID(),
        rank: toSlowRank(failureCount),
      };
    });
    const moved = await sql.run(moveMessages, { moves });
    const movedIds = new Set(moved.map(({ id }) => id));
    const jobs = moves.filter(({ id }) => movedIds.has(id)).map(({ from: _, ...job }) => job);
    await queue.add(
      sql,
      jobs.map((job) => ({ ...job, lane: 'slow', delayMs: 0 })),
    );
    await queue.complete(
      sql,
      misplaced.map(({ lease }) => lease),
    );
  });
}
