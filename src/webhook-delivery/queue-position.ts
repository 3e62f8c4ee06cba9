/** Determines where a message is queued: in which lane, and how far back. */
import { int, ints, type Sql, statement } from '../db/statements.ts';
import { type NewJob, toRank, toSlowRank } from './queue.ts';

/** This many pending messages of a workspace add one to the weight of its next message. */
const PENDING_UNIT = 50;
const MAX_COUNTED = 5_000;
/**
 * How long a count is reused. Counting takes 20 ms for 5,000 messages, and almost as long for a few, because the index
 * also has those that were delivered a moment ago. The rank grows with the logarithm of the count, so the count need
 * not be exact.
 */
const REUSE_MS = 1_000;

/**
 * Returns where a message is queued: in the slow lane if its webhook is slow, otherwise in the fast lane, further back
 * if `weight` is larger.
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

export type PendingCounts = {
  /** Reads the counts of these workspaces, which `next` returns. */
  load(sql: Sql, workspaceIds: readonly number[]): Promise<void>;
  /**
   * Returns the number of pending messages of a workspace, and adds one to it for the message that is about to be
   * queued.
   */
  next(workspaceId: number): number;
};

/** Counts the pending messages of workspaces for the relay, at most once a second. */
export function createPendingCounts(now: () => number = () => performance.now()): PendingCounts {
  const known = new Map<number, { count: number; at: number }>();
  return {
    async load(sql, workspaceIds) {
      const at = now();
      for (const [id, counted] of known) if (at - counted.at > REUSE_MS) known.delete(id);
      const unknown = workspaceIds.filter((id) => !known.has(id));
      if (unknown.length === 0) return;
      for (const [id, count] of await countPending(sql, unknown)) known.set(id, { count, at });
    },
    next(workspaceId) {
      const counted = known.get(workspaceId);
      return counted === undefined ? 0 : counted.count++;
    },
  };
}
