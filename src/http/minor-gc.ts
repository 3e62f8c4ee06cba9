/**
 * Frees the memory of received chunks early.
 *
 * Node reads a body in chunks of 64 kB outside of V8's heap. V8 frees them in a minor collection, which it starts when
 * its young generation is full. Uploads fill the young generation slowly. Meanwhile the memory outside the heap
 * triggers major collections: one for every 25 MB, each of which takes 35 ms. A minor collection takes less than a
 * millisecond, and frequent ones make the major ones unnecessary. An upload is then twice as fast, takes half the CPU
 * time, and needs less memory (bench/uploads.ts, bench/upload-memory.ts).
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** From 6 MiB on, minor collections are too rare to help. Below 4 MiB, they only move chunks that are still in use. */
const INTERVAL_BYTES = 4 * 1024 * 1024;

type Collect = (options: { type: 'minor' }) => void;

const collect = findCollector();
let sinceLast = 0;

/** Counts the bytes of all bodies, and runs a minor collection after every INTERVAL_BYTES. */
export function countBodyBytes(count: number): void {
  sinceLast += count;
  if (sinceLast < INTERVAL_BYTES) return;
  sinceLast = 0;
  collect({ type: 'minor' });
}

/** Returns V8's `gc` function, which `--expose-gc` adds to new contexts, without adding it to the global object. */
function findCollector(): Collect {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  // V8 documents this function and its options under `--expose-gc`.
  return gc as Collect;
}
