/**
 * Frees the memory that bodies came in.
 *
 * Node hands out each 64 kB of a body in memory outside of V8's heap, which V8 frees when it collects young garbage. It
 * does that when its own young space is full, and uploads fill it slowly, while the memory outside counts towards a full
 * collection: one every 25 MB, of 35 ms each with all of the service on the heap. A collection of young garbage alone,
 * often enough, takes under a millisecond and makes the full ones unnecessary: half the CPU and twice the speed of an
 * upload, and less memory (bench/uploads.ts, bench/upload-memory.ts).
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** From 6 MiB on it is too seldom to help; below, chunks that are on their way are moved about for nothing. */
const EVERY_BYTES = 4 * 1024 * 1024;

type Collect = (options: { type: 'minor' }) => void;

const collect = findCollector();
let sinceLast = 0;

/** Counts bytes that all bodies together have brought; collects when there are enough. */
export function noteBodyBytes(count: number): void {
  sinceLast += count;
  if (sinceLast < EVERY_BYTES) return;
  sinceLast = 0;
  collect({ type: 'minor' });
}

/** What `--expose-gc` would make a global of every script. */
function findCollector(): Collect {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  // The one thing of this name, and V8 documents its options in `--expose-gc`.
  return collect as Collect;
}
