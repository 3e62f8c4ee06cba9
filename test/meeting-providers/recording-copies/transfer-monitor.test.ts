/** The monitor of a transfer, with a clock of its own. */
import { expect, test } from 'vitest';
import {
  maxTransferMs,
  monitorTransfer,
} from '../../../src/features/meeting-providers/recording-copies/transfer-monitor.ts';
import { LeaseLost } from '../../../src/jobs/worker.ts';
import { createManualTicker } from '../../support/manual-ticker.ts';
import { quietLog } from '../../support/quiet-log.ts';

const MIB = 1024 ** 2;
const MINUTE_MS = 60_000;

function watch(renewLease: () => Promise<number | null> = async () => 0, maxBytes = 100 * MIB) {
  const ticker = createManualTicker();
  const monitor = monitorTransfer({ ticker, log: quietLog, maxBytes }, renewLease);
  return { ticker, monitor };
}

/** Lets a transfer receive this many bytes. */
async function receive(monitor: ReturnType<typeof monitorTransfer>, bytes: number): Promise<void> {
  async function* chunks() {
    yield Buffer.alloc(bytes);
  }
  for await (const chunk of monitor.count(chunks())) expect(chunk).toHaveLength(bytes);
}

test('the lease is renewed every 20 seconds until the transfer ends', () => {
  let renewals = 0;
  const { ticker, monitor } = watch(async () => {
    renewals += 1;
    return 0;
  });
  ticker.advance(19_999);
  expect(renewals).toBe(0);
  ticker.advance(1);
  expect(renewals).toBe(1);
  monitor.stop();
  ticker.advance(MINUTE_MS);
  expect(renewals).toBe(1);
  expect(monitor.signal.reason).toBeInstanceOf(LeaseLost);
});

test('a lease that another process has ends the transfer', async () => {
  const { ticker, monitor } = watch(async () => null);
  ticker.advance(20_000);
  await Promise.resolve();
  expect(monitor.signal.reason).toBeInstanceOf(LeaseLost);
});

test('a renewal that fails does not end the transfer', async () => {
  const { ticker, monitor } = watch(() => Promise.reject(new Error('The database is down')));
  ticker.advance(20_000);
  await Promise.resolve();
  expect(monitor.signal.aborted).toBe(false);
});

test('a file has a grace period of 30 seconds, and then needs 64 KiB a second on average', async () => {
  const { ticker, monitor } = watch();
  ticker.advance(20_000);
  expect(monitor.signal.aborted).toBe(false);
  // Enough until the check after 60 seconds, and not until the one after 80.
  await receive(monitor, 30 * 64 * 1024);
  ticker.advance(40_000);
  expect(monitor.signal.aborted).toBe(false);
  ticker.advance(20_000);
  expect(monitor.signal.reason).toMatchObject({ message: 'The file was sent too slowly', isLasting: false });
});

test.each([
  [1, 2],
  [7, 8],
  [500, 16],
])('with %i users waiting for a slot, a file needs %i times 64 KiB a second', async (waiting, factor) => {
  const { ticker, monitor } = watch(async () => waiting);
  // The first check learns who waits.
  ticker.advance(20_000);
  await Promise.resolve();
  await receive(monitor, 30 * factor * 64 * 1024);
  ticker.advance(40_000);
  expect(monitor.signal.aborted).toBe(false);
  ticker.advance(20_000);
  expect(monitor.signal.reason).toMatchObject({ message: 'The file was sent too slowly', isLasting: false });
});

test('a file must arrive within 30 minutes, however fast it is', async () => {
  const { ticker, monitor } = watch(undefined, 1000 * MIB);
  await receive(monitor, 1000 * MIB);
  ticker.advance(30 * MINUTE_MS);
  expect(monitor.signal.aborted).toBe(false);
  ticker.advance(20_000);
  expect(monitor.signal.reason).toMatchObject({ message: 'The transfer took too long', isLasting: false });
});

test('the largest file has the time that it takes at 10 Mbit/s, and never less than 30 minutes', () => {
  const minutes = (bytes: number): number => Math.round(maxTransferMs(bytes) / MINUTE_MS);
  expect([1_000_000, 2 * 1024 ** 3, 10_000_000_000].map(minutes)).toEqual([30, 30, 133]);
});

test('a file may have the maximum size, and not a byte more', async () => {
  const { monitor } = watch(undefined, 10);
  await receive(monitor, 10);
  await expect(receive(monitor, 1)).rejects.toMatchObject({ message: 'The file is too large', isLasting: true });
});
