/** Sends what earlier pages of this browser have recorded, but not sent: after a crash, or when the page was closed. */
import { listDeviceSpools, lockOf, openDeviceSpool } from './device-spools.ts';
import { Refused, sendSpool } from './send-spool.ts';
import type { SpoolInfo } from './spool.ts';

export type EarlierOptions = {
  /** How many of them are being sent now. */
  onCount(count: number): void;
  /** A recording that an earlier page has begun, and that nobody captures any more. */
  onFound(info: SpoolInfo): void;
};

/**
 * Sends all spools that no other page holds, and those of other pages of this browser once they are gone. Two pages
 * never send the same spool. A spool is removed when it was sent, when the service refuses it for good, and after 24
 * hours. Never rejects.
 */
export async function sendEarlier({ onCount, onFound }: EarlierOptions): Promise<void> {
  // Browsers without locks, or over plain HTTP, keep no spools either.
  if (navigator.locks === undefined) return;
  let count = 0;

  async function send(name: string): Promise<void> {
    const spool = await openDeviceSpool(name);
    if (spool === null) return;
    count += 1;
    onCount(count);
    onFound(spool.info);
    try {
      await sendSpool({
        ...{ spool, origin: location.origin, fetch: globalThis.fetch.bind(globalThis) },
        onProgress: () => {},
        onTrouble: () => {},
      });
    } catch (error) {
      // A conflict, such as a quota that is reached, may be over when a page opens again.
      if (!(error instanceof Refused && error.status === 409)) await spool.clear();
    } finally {
      count -= 1;
      onCount(count);
    }
  }

  const names = await listDeviceSpools();
  await Promise.all(names.map((name) => navigator.locks.request(lockOf(name), () => send(name)).catch(() => {})));
}
