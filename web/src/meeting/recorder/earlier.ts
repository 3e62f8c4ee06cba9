/** Sends what earlier pages of this browser have recorded, but not sent: after a crash, or when the page was closed. */
import type { TextOf } from '../../../../src/languages/catalogue.ts';
import { listDeviceSpools, lockOf, openDeviceSpool } from './device-spools.ts';
import { Refused, sendSpool } from './send-spool.ts';
import type { Spool, SpoolInfo } from './spool.ts';
import { describeRefusal } from './texts.ts';

/** A recording that has a file already is refused with 409 too, at each load of the page until it is too old. */
const MAX_CONFLICTS = 8;

export type EarlierOptions = {
  /** A recording that an earlier page has begun, and that nobody captures any more. */
  onFound(info: SpoolInfo): void;
  /** It is being sent until the promise resolves, with null or the reason why it cannot be sent. */
  track(sent: Promise<TextOf | null>): void;
};

/**
 * Sends all spools that no other page holds, and those of other pages of this browser once they are gone. Two pages
 * never send the same spool. A spool is removed when it was sent, when the service refuses it for good, and after 24
 * hours. Never rejects.
 */
export async function sendEarlier({ onFound, track }: EarlierOptions): Promise<void> {
  // Browsers without locks, or over plain HTTP, keep no spools either.
  if (navigator.locks === undefined) return;

  async function sendNamed(name: string): Promise<void> {
    const spool = await openDeviceSpool(name);
    if (spool === null) return;
    onFound(spool.info);
    const sent = send(spool);
    track(sent);
    await sent;
  }

  const names = await listDeviceSpools();
  await Promise.all(names.map((name) => navigator.locks.request(lockOf(name), () => sendNamed(name)).catch(() => {})));
}

async function send(spool: Spool): Promise<TextOf | null> {
  try {
    await sendSpool({
      spool,
      origin: location.origin,
      fetch: globalThis.fetch.bind(globalThis),
      maxConflicts: MAX_CONFLICTS,
      onProgress: () => {},
      onTrouble: () => {},
    });
    return null;
  } catch (error) {
    // A conflict, such as a quota that is reached, may be over when a page opens again.
    if (!(error instanceof Refused && error.status === 409)) await spool.clear().catch(() => {});
    return describeRefusal(error);
  }
}
