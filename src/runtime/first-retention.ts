import { inTime } from '../core/in-time.ts';
import { SECOND_MS } from '../core/time.ts';
import { allowLongStatements } from '../db/time-limits.ts';
import { sweepRetention } from '../features/retention/sweep-retention.ts';
import type { Services } from '../services.ts';

/** How long the server waits with listening. After that, the sweep continues in the background. */
const MAX_WAIT_MS = 5 * SECOND_MS;

/** The sweep that has begun. `stop` waits for its end, and may be called before it. */
export type FirstRetention = { stop(): Promise<void> };

/**
 * Applies the retention policies before the server listens, so that nobody sees an item that should be gone. Resolves
 * when the sweep has ended, or after five seconds. Never rejects: a sweep that fails is repeated by the schedule.
 */
export async function applyRetentionFirst(services: Services, maxWaitMs = MAX_WAIT_MS): Promise<FirstRetention> {
  const sweep = allowLongStatements(() => sweepRetention(services)).then(
    () => undefined,
    (error: unknown) => services.log.error({ err: error }, 'Failed to apply the retention policies at start'),
  );
  await inTime(sweep, maxWaitMs, null);
  return { stop: () => sweep };
}
