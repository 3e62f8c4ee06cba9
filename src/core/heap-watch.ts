/** Detects that V8's heap is almost full. V8 ends the process when it is full. */
import { getHeapStatistics } from 'node:v8';
import { collectGarbage } from './collect-garbage.ts';

/** How much of the heap may be in use. The limit of V8 includes the young generation, most of which stays empty. */
const MAX_SHARE = 0.75;
/** How long a result is reused. Reading it takes a few microseconds. */
const REUSE_MS = 20;
/** A major collection can take half a second when the heap is this full. */
const COLLECTION_INTERVAL_MS = 5_000;

let checkedAt = Number.NEGATIVE_INFINITY;
let collectedAt = Number.NEGATIVE_INFINITY;
let isFull = false;

/**
 * Whether the heap is too full for more work that can be refused. Before it says so, it collects garbage, because V8
 * may have postponed that.
 */
export function isHeapFull(): boolean {
  const now = performance.now();
  if (now - checkedAt < REUSE_MS) return isFull;
  isFull = isOverLimit();
  if (isFull && now - collectedAt > COLLECTION_INTERVAL_MS) {
    collectGarbage({ type: 'major' });
    collectedAt = performance.now();
    isFull = isOverLimit();
  }
  checkedAt = performance.now();
  return isFull;
}

function isOverLimit(): boolean {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used > limit * MAX_SHARE;
}
