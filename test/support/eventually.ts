import { vi } from 'vitest';

/** Far longer than a slow run needs. It ends a test that would otherwise wait forever. */
const TIMEOUT_MS = 60_000;
const INTERVAL_MS = 20;

/** Waits until `look` finds something, and returns it. */
export function eventually<Found>(look: () => Promise<Found | null | undefined | false>): Promise<Found> {
  // `as`: waitUntil resolves with the first truthy value, but its type still includes null, undefined and false.
  return vi.waitUntil(look, { timeout: TIMEOUT_MS, interval: INTERVAL_MS }) as Promise<Found>;
}
