/** Runs V8's garbage collector. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { type: 'minor' | 'major' }) => void;

/** Collects the garbage of the young generation (under a millisecond), or of the whole heap. */
export const collectGarbage = findCollector();

/** Returns V8's `gc` function, without adding it to the global object. `--expose-gc` adds it to new contexts. */
function findCollector(): Collect {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  // V8 documents this function and its options under `--expose-gc`.
  return gc as Collect;
}
