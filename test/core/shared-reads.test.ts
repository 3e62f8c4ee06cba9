/** Reads that concurrent calls share: who waits for which read, and what happens if a read fails or is slow. */
import { expect, test } from 'vitest';
import { createRequestBounds, runCall, waitedMs } from '../../src/core/call-bounds.ts';
import { createSharedReads } from '../../src/core/shared-reads.ts';

/** Reads that end on request. Each resolves with its number, in the order in which they started. */
function manualReads() {
  const reads = createSharedReads();
  const started: PromiseWithResolvers<number>[] = [];
  const read = () => {
    const one = Promise.withResolvers<number>();
    started.push(one);
    return one.promise;
  };
  return {
    started,
    call: (key = 'a') => reads.run(key, read),
    async end(number: number) {
      started[number]?.resolve(number);
      await settled();
    },
    async fail(number: number) {
      started[number]?.reject(new Error(`read ${number} failed`));
      await settled();
    },
  };
}

/** Waits until every reaction to a settled promise has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('calls that arrive during a read share the next one, and never get the result of the earlier one', async () => {
  const { started, call, end } = manualReads();
  const first = call();
  const later = [call(), call(), call()];
  expect(started).toHaveLength(1);
  await end(0);
  expect(await first).toBe(0);
  expect(started).toHaveLength(2);
  const last = call();
  await end(1);
  expect(await Promise.all(later)).toEqual([1, 1, 1]);
  await end(2);
  expect(await last).toBe(2);
  expect(started).toHaveLength(3);
});

test('a call that finds no read in progress starts one at once', async () => {
  const { started, call, end } = manualReads();
  for (const number of [0, 1]) {
    const result = call();
    expect(started).toHaveLength(number + 1);
    await end(number);
    expect(await result).toBe(number);
  }
});

test('calls with different keys share nothing', async () => {
  const { started, call, end } = manualReads();
  const calls = [call('a'), call('b')];
  expect(started).toHaveLength(2);
  await end(1);
  await end(0);
  expect(await Promise.all(calls)).toEqual([0, 1]);
});

test('if a shared read fails, only the call that started it fails, and each other call reads on its own', async () => {
  const { started, call, end, fail } = manualReads();
  const first = call();
  const [starter, ...others] = [call(), call(), call()].map((result) => result.catch((error: Error) => error.message));
  await fail(0);
  await expect(first).rejects.toThrow('read 0 failed');
  expect(started).toHaveLength(2);
  await fail(1);
  expect(await starter).toBe('read 1 failed');
  expect(started).toHaveLength(4);
  await end(2);
  await end(3);
  expect(await Promise.all(others)).toEqual([2, 3]);
});

test('a read that does not end holds up no later call, and calls after it share again', async () => {
  const { started, call, end } = manualReads();
  const stuck = call();
  const later = [call(), call()];
  await expect.poll(() => started.length).toBe(2);
  const last = [call(), call()];
  await end(1);
  expect(await Promise.all(later)).toEqual([1, 1]);
  expect(started).toHaveLength(3);
  await end(0);
  expect(await stuck).toBe(0);
  const next = call();
  expect(started).toHaveLength(3);
  await end(2);
  expect(await Promise.all(last)).toEqual([2, 2]);
  await end(3);
  expect(await next).toBe(3);
});

test('the wait for a shared read counts as time that the request waits for the database', async () => {
  const { call, end } = manualReads();
  const request = createRequestBounds(new AbortController().signal, 'one');
  const first = call();
  const waiting = [1, 2].map(() => runCall(request, { feature: 'labels', isRead: true }, () => call()));
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(waitedMs(request.waited)).toBeGreaterThan(0);
  await end(0);
  await end(1);
  expect(await Promise.all([first, ...waiting])).toEqual([0, 1, 1]);
  expect(request.waited.waiting).toBe(0);
});
