/** Whether this process was started with the limits for V8 that package.json, the image and the units set. */
import { getHeapStatistics } from 'node:v8';

/** V8's own limit is higher on any machine with 4 GB or more. */
const MAX_HEAP_MIB = 1_536;

/** Returns what to log if V8 may use much more memory than the service needs; otherwise null. */
export function describeMissingLimits(heapLimitBytes: number = getHeapStatistics().heap_size_limit): string | null {
  const mib = Math.round(heapLimitBytes / 2 ** 20);
  if (mib <= MAX_HEAP_MIB) return null;
  return (
    `The heap may grow to ${mib} MiB: start Node with --max-semi-space-size=16 --max-old-space-size=512, ` +
    'or a higher limit of your own; see docs/deployment.md'
  );
}
