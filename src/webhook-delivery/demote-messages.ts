import { randomUUID } from 'node:crypto';
import { type Database, transact } from '../db/client.ts';
import type { LeasedMessage } from './load-messages.ts';
import { lockWebhooks } from './lock-webhooks.ts';
import { type DeliveryQueue, toSlowRank } from './queue.ts';

/**
 * Moves leased messages to the slow lane: each gets a new job there, in place of the leased one. The jobs of webhooks
 * that are being deleted stay: another worker gets them when their leases have expired.
 */
export function demoteMessages(db: Database, queue: DeliveryQueue, leased: readonly LeasedMessage[]): Promise<void> {
  return transact(db, async (tx) => {
    const { isBeingDeleted } = await lockWebhooks(
      tx,
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
    const moved = await tx.$queryRaw<{ id: string }[]>`
      update webhook_messages m set job_id = j.id
      from json_to_recordset(${JSON.stringify(moves)}::json)
        as j (id uuid, "from" uuid, "workspaceId" int, "messageId" text)
      where m.workspace_id = j."workspaceId" and m.id = j."messageId" and m.job_id = j."from" and m.status = 'waiting'
      returning j.id::text`;
    const movedIds = new Set(moved.map(({ id }) => id));
    const jobs = moves.filter(({ id }) => movedIds.has(id)).map(({ from: _, ...job }) => job);
    await queue.add(
      tx,
      jobs.map((job) => ({ ...job, lane: 'slow', delayMs: 0 })),
    );
    await queue.complete(
      tx,
      misplaced.map(({ lease }) => lease),
    );
  });
}
