import { randomUUID } from 'node:crypto';
import { type Database, transact } from '../db/client.ts';
import type { LoadedMessage } from './load-messages.ts';
import { type Claim, type DeliveryQueue, slowRank } from './queue.ts';

/** Gives claimed messages new jobs in the slow lane, in place of the ones that were claimed. */
export function moveToSlowLane(
  db: Database,
  queue: DeliveryQueue,
  misplaced: readonly { claim: Claim; message: LoadedMessage }[],
): Promise<void> {
  return transact(db, async (tx) => {
    const moves = misplaced.map(({ claim, message: { workspaceId, id, webhookId, failureCount } }) => {
      return { workspaceId, webhookId, messageId: id, from: claim.id, id: randomUUID(), rank: slowRank(failureCount) };
    });
    const moved = await tx.$queryRaw<{ id: string }[]>`
      update webhook_messages m set job_id = j.id
      from json_to_recordset(${JSON.stringify(moves)}::json) as j (id uuid, "from" uuid, "workspaceId" int, "messageId" text)
      where m.workspace_id = j."workspaceId" and m.id = j."messageId" and m.job_id = j."from" and m.status = 'waiting'
      returning j.id::text`;
    const ids = new Set(moved.map(({ id }) => id));
    await queue.add(
      tx,
      moves.filter(({ id }) => ids.has(id)).map(({ from: _, ...job }) => ({ ...job, lane: 'slow', delayMs: 0 })),
    );
    await queue.finish(
      tx,
      misplaced.map(({ claim }) => claim),
    );
  });
}
