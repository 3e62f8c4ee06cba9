/** How much work waits for the relay and for the delivery workers, for monitoring. */
import type { Database } from '../db/client.ts';
import { onlyRow } from '../db/only-row.ts';
import { float, int, type Sql, statement } from '../db/statements.ts';
import { transactByIndex } from './by-index.ts';
import { type Lane, type LaneBacklog, leaseSettings, readLane } from './queue.ts';

export const lanes: readonly Lane[] = ['fast', 'slow'];

const MAX_EVENTS = 10_000;

export type RelayBacklog = {
  /** Events that are not relayed yet, counted up to 10,000. */
  events: number;
  /** The age of the oldest of these events; 0 if there is none. */
  oldestSeconds: number;
};

// The index of events that are not relayed is sorted by id, and ids grow with time.
const readRelay = statement('read-relay-backlog', {
  params: {},
  returns: { events: int, oldestSeconds: float },
  sql: `
    with waiting as (select created_at from events where relayed_at is null order by events.id limit ${MAX_EVENTS})
    select count(*)::int as events,
      coalesce(greatest(0, extract(epoch from now() - min(created_at))), 0)::float8 as "oldestSeconds"
    from waiting`,
});

export function readRelayBacklog({ sql }: Pick<Database, 'sql'>): Promise<RelayBacklog> {
  return transactByIndex(sql, async (tx) => onlyRow(await tx.run(readRelay, {})));
}

/** Reads at most 20,000 entries of an index for each lane. Rejects if the queue has never been created. */
export function readQueueBacklog({ sql }: Pick<Database, 'sql'>): Promise<Record<Lane, LaneBacklog>> {
  const read = async (tx: Sql) => ({ fast: await readLane(tx, 'fast'), slow: await readLane(tx, 'slow') });
  // Jobs are read in the order in which they are leased.
  return transactByIndex(sql, read, leaseSettings);
}
