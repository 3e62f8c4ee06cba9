/**
 * Frees the memory of received chunks early.
 *
 * Node reads a body in chunks of 64 kB outside of V8's heap. V8 frees them when it collects young garbage, which it
 * does when its own young space is full. Uploads fill that space slowly, while the memory outside counts towards full
 * collections: one for every 25 MB, each 35 ms long with the whole service on the heap. Collecting young garbage often
 * enough takes under a millisecond and makes the full collections unnecessary. An upload then costs half the CPU, is
 * twice as fast, and takes less memory (bench/uploads.ts, bench/upload-memory.ts).
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** From 6 MiB on, collections come too seldom to help. Below 4 MiB, they only move chunks that are still in use. */
const INTERVAL_BYTES = 4 * 1024 * 1024;

type Collect = (options: { type: 'minor' }) => void;

const collect = findCollector();
let sinceLast = 0;

/** Counts the bytes of all bodies, and collects young garbage once for each INTERVAL_BYTES. */
export function countBodyBytes(count: number): void {
  sinceLast += count;
  if (sinceLast < INTERVAL_BYTES) return;
  sinceLast = 0;
  collect({ type: 'minor' });
}

/** The function that `--expose-gc` makes global, without making it global. */
function findCollector(): Collect {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  // V8 documents this function and its options under `--expose-gc`.
  return gc as Collect;
}
