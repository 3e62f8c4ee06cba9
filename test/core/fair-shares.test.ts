/** Whose calls run, and whose wait. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CallBounds, createRequestBounds } from '../../src/core/call-bounds.ts';
import { createFairShares, type FairShares } from '../../src/core/fair-shares.ts';

let time: number;
let shares: FairShares;
beforeEach(() => {
  time = 0;
  shares = createFairShares(() => time);
});

/** The calls that a test has started. */
let started: { end(): Promise<void>; result: Promise<string> }[] = [];
afterEach(async () => {
  // Nothing waits any longer than its test.
  await Promise.allSettled(started.map(({ end }) => end()));
  started = [];
});

const neverHungUp = new AbortController().signal;

function callOf(owner: string | null, feature = 'library', hungUp = neverHungUp): CallBounds {
  return {
    ...createRequestBounds(hungUp, 'id'),
    feature,
    owner,
    isRead: true,
    transactions: 0,
    acquired: 0,
    queuedMs: 0,
    claim: null,
  };
}

type Started = { isRunning: boolean; end(): Promise<void>; result: Promise<string> };

/** Starts a call that runs until `end`. */
function start(owner: string | null, feature?: string, options?: { isPatient?: boolean }): Started {
  const { promise, resolve } = Promise.withResolvers<void>();
  const state = { isRunning: false };
  const work = async () => {
    state.isRunning = true;
    await promise;
    return 'done';
  };
  const result = shares.run(callOf(owner, feature), work, options);
  const end = async () => {
    resolve();
    await result;
  };
  started.push({ end, result });
  return Object.assign(state, { end, result });
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const running = (calls: readonly Started[]) => calls.filter(({ isRunning }) => isRunning).length;
const startMany = (count: number, owner: string, feature?: string) =>
  Array.from({ length: count }, () => start(owner, feature));

/** Runs a call of the owner that takes `ms`, and those before it long enough for the average to follow. */
async function spend(owner: string, ms: number): Promise<void> {
  for (let count = 0; count < 30; count += 1) {
    const call = start(owner);
    await settle();
    time += ms;
    await call.end();
  }
}

test('an owner who calls alone is not limited, whatever the calls cost', async () => {
  await spend('user:1', 500);
  const calls = startMany(100, 'user:1');
  await settle();
  expect(running(calls)).toBe(100);
});

test('while others call, an owner has the fewer calls in progress, the more they cost', async () => {
  const counts: number[] = [];
  for (const ms of [0.2, 2, 5, 40]) {
    const owner = `user:${ms}`;
    await spend(owner, ms);
    const other = start('user:other');
    const calls = startMany(16, owner);
    await settle();
    counts.push(running(calls));
    for (const call of [other, ...calls]) await call.end();
  }
  expect(counts).toEqual([8, 5, 2, 1]);
});

test('the others of the queue follow in their order, as each call ends', async () => {
  await spend('user:1', 40);
  const other = start('user:2');
  const calls = startMany(4, 'user:1');
  await settle();
  expect(calls.map(({ isRunning }) => isRunning)).toEqual([true, false, false, false]);
  await calls[0]?.end();
  await settle();
  expect(calls.map(({ isRunning }) => isRunning)).toEqual([true, true, false, false]);
  // The other is gone for longer than a second.
  await other.end();
  time += 2_000;
  await calls[1]?.end();
  const later = start('user:1');
  await settle();
  expect(running([...calls, later])).toBe(5);
});

test('a feature whose calls do not end leaves its callers two in others', async () => {
  await spend('user:1', 40);
  start('user:2');
  const locked = startMany(5, 'user:1', 'labels');
  const others = ['rooms', 'library', 'contacts'].map((feature) => start('user:1', feature));
  await settle();
  expect([running(locked), running(others)]).toEqual([1, 2]);
});

test('a call that lasts for long makes room for the next', async () => {
  await spend('user:1', 40);
  start('user:2');
  const calls = startMany(3, 'user:1');
  await settle();
  expect(running(calls)).toBe(1);
  time += 101;
  await expect.poll(() => running(calls)).toBe(2);
});

test('too many waiting calls of an owner get 429, and not those of others or patient ones', async () => {
  await spend('user:1', 40);
  start('user:2');
  const calls = startMany(201, 'user:1');
  await settle();
  await expect(start('user:1').result).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' });
  const patient = start('user:1', 'export', { isPatient: true });
  expect(start('user:3').isRunning).toBe(true);
  for (const call of calls) await call.end();
  await patient.end();
});

test('a caller who hangs up leaves the queue, and a call that fails frees its place', async () => {
  await spend('user:1', 40);
  start('user:2');
  const hangUp = new AbortController();
  const failing = shares.run(callOf('user:1'), async () => {
    await settle();
    throw new Error('no');
  });
  const hanging = shares.run(callOf('user:1', 'library', hangUp.signal), async () => 'never');
  const last = start('user:1');
  hangUp.abort();
  await expect(hanging).rejects.toMatchObject({ message: 'The request was cut off' });
  await expect(failing).rejects.toThrow('no');
  await settle();
  expect(last.isRunning).toBe(true);
});

test('a call without an owner runs at once', async () => {
  await spend('user:1', 40);
  startMany(5, 'user:1');
  expect(start(null).isRunning).toBe(true);
});
