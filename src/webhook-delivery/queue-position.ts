/** Where a message is queued: in which lane, and how far back. */
import { int, ints, type Sql, statement } from '../db/statements.ts';
import { type NewJob, toRank, toSlowRank } from './queue.ts';

/** The number of pending messages of a workspace above which its rank in the queue grows. */
const PENDING_UNIT = 50;
const MAX_COUNTED = 5_000;

/**
 * Where a message is queued: in the slow lane if its webhook is slow, otherwise in the fast lane, further back if
 * `weight` is larger.
 */
export function findPosition(
  { isSlow, failureCount }: { isSlow: boolean; failureCount: number },
  weight: number,
): Pick<NewJob, 'lane' | 'rank'> {
  return isSlow ? { lane: 'slow', rank: toSlowRank(failureCount) } : { lane: 'fast', rank: toRank(weight) };
}

/** The weight of the next message of a workspace that has this many pending messages. */
export function toWeight(pending: number): number {
  return Math.floor(pending / PENDING_UNIT);
}

const countStatement = statement('count-pending-messages', {
  params: { workspaceIds: ints },
  returns: { id: int, pending: int },
  sql: `
    select w.id, (select count(*)::int from (select from webhook_messages m
      where m.workspace_id = w.id and m.status = 'waiting' limit ${MAX_COUNTED}) c) as pending
    from unnest($workspaceIds) as w (id)`,
});

/** Counts the pending messages of each workspace, up to a limit. */
export async function countPending(sql: Sql, workspaceIds: readonly number[]): Promise<Map<number, number>> {
  const rows = await sql.run(countStatement, { workspaceIds });
  return new Map(rows.map(({ id, pending }) => [id, pending]));
}
