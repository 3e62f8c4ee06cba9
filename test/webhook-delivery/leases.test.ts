/** The leases of a process: heartbeats last exactly as long as a lease is held, and slots as long as its request. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createFairSlots } from '../../src/webhook-delivery/fair-slots.ts';
import { type Leases, startLeases } from '../../src/webhook-delivery/leases.ts';
import type { Lease } from '../../src/webhook-delivery/queue.ts';
import { quietLog } from '../support/quiet-log.ts';
import { makeLease } from './fixtures/attempts.ts';

const HEARTBEAT_MS = 2_500;
const [a, b] = [makeLease('a'), makeLease('b')];

let leases: Leases;
const renew = vi.fn(async (_: readonly Lease[]) => {});
const onRelease = vi.fn();
const slots = createFairSlots(10);

beforeEach(() => {
  vi.useFakeTimers();
  renew.mockReset();
  onRelease.mockReset();
  leases = startLeases({ queue: { renew }, slots, onRelease, log: quietLog });
});
afterEach(async () => {
  leases.release([a, b]);
  await leases.stop();
  vi.useRealTimers();
});

/** Whether a promise has settled after so many milliseconds. */
async function hasSettled(promise: Promise<unknown>, ms = 0): Promise<boolean> {
  let isSettled = false;
  void promise.then(() => {
    isSettled = true;
  });
  await vi.advanceTimersByTimeAsync(ms);
  return isSettled;
}

test('every held lease is renewed every 2.5 s, and a released one no more', async () => {
  leases.add([a, b], 'fast');
  await vi.advanceTimersByTimeAsync(HEARTBEAT_MS);
  expect(renew).toHaveBeenLastCalledWith([a, b]);
  leases.release([a]);
  await vi.advanceTimersByTimeAsync(HEARTBEAT_MS);
  expect(renew).toHaveBeenLastCalledWith([b]);
});

test('a heartbeat that fails is repeated', async () => {
  leases.add([a], 'fast');
  renew.mockRejectedValueOnce(new Error('no connection'));
  await vi.advanceTimersByTimeAsync(HEARTBEAT_MS);
  const calls = renew.mock.calls.length;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(renew).toHaveBeenCalledTimes(calls + 1);
});

test('a lease occupies a slot of its lane and workspace until it is released', () => {
  leases.add([a], 'slow');
  expect([slots.countFree('fast'), slots.countFree('slow')]).toEqual([9, 4]);
  leases.release([a]);
  expect([slots.countFree('fast'), slots.countFree('slow')]).toEqual([10, 5]);
  expect(onRelease).toHaveBeenCalledTimes(1);
});

test('a job that is leased again while its attempt is in flight counts once', () => {
  expect(leases.add([a], 'slow')).toEqual([a]);
  expect(leases.add([a, b], 'slow')).toEqual([b]);
  expect([leases.count(), slots.countFree('slow')]).toEqual([2, 3]);
  leases.release([a, b]);
  expect([leases.count(), slots.countFree('fast'), slots.countFree('slow')]).toEqual([0, 10, 5]);
});

test('a lease whose request has ended frees its slot, and is held and renewed until it is released', async () => {
  leases.add([a], 'slow');
  leases.endRequest(a);
  expect([slots.countFree('fast'), slots.countFree('slow')]).toEqual([10, 5]);
  expect(onRelease).toHaveBeenCalledTimes(1);
  expect(leases.count()).toBe(1);
  await vi.advanceTimersByTimeAsync(HEARTBEAT_MS);
  expect(renew).toHaveBeenLastCalledWith([a]);
  leases.release([a]);
  expect(leases.count()).toBe(0);
});

test('drain resolves when the last lease is released', async () => {
  leases.add([a, b], 'fast');
  const drained = leases.drain(60_000);
  leases.release([a]);
  expect(await hasSettled(drained)).toBe(false);
  leases.release([b]);
  expect(await hasSettled(drained)).toBe(true);
});

test('drain resolves at once without leases, and at its timeout with leases', async () => {
  expect(await hasSettled(leases.drain(60_000))).toBe(true);
  leases.add([a], 'fast');
  const drained = leases.drain(20_000);
  expect(await hasSettled(drained, 19_999)).toBe(false);
  expect(await hasSettled(drained, 1)).toBe(true);
});
