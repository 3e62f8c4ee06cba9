/** Starting and stopping what consists of several parts. */
import { beforeEach, expect, test } from 'vitest';
import { createStopDeadline, startWithCleanup } from '../../src/runtime/lifecycle.ts';
import { quietLog } from '../support/quiet-log.ts';

let steps: string[];
let logged: [details: object, message: string][];

beforeEach(() => {
  steps = [];
  logged = [];
});

const log = { ...quietLog, error: (details: object, message: string) => void logged.push([details, message]) };
const failure = { a: new Error('a failed'), c: new Error('c failed') };

/** Registers three parts, of which two fail to stop. */
function deferParts(cleanup: AsyncDisposableStack): void {
  for (const name of ['a', 'b', 'c'] as const) {
    cleanup.defer(async () => {
      steps.push(name);
      if (name !== 'b') throw failure[name];
    });
  }
}

const failuresInOrder = [
  [{ err: failure.c }, 'Failed to stop cleanly'],
  [{ err: failure.a }, 'Failed to stop cleanly'],
];

test('stop runs every step, last first, and logs each failure without rejecting', async () => {
  const running = await startWithCleanup(log, async (cleanup) => {
    deferParts(cleanup);
    return { name: 'service' };
  });
  expect(running.name).toBe('service');
  expect(steps).toEqual([]);
  await running.stop();
  expect(steps).toEqual(['c', 'b', 'a']);
  expect(logged).toEqual(failuresInOrder);
});

test('a second call of stop waits for the first and runs no step again', async () => {
  let finish = (): void => {};
  const running = await startWithCleanup(log, async (cleanup) => {
    cleanup.defer(() => new Promise<void>((resolve) => (finish = resolve)).then(() => void steps.push('stopped')));
    return {};
  });
  const first = running.stop();
  const second = running.stop().then(() => steps.push('second'));
  finish();
  await Promise.all([first, second]);
  expect(steps).toEqual(['stopped', 'second']);
});

test('a failed start stops what was started and rejects with its own error', async () => {
  const started = startWithCleanup(log, async (cleanup) => {
    deferParts(cleanup);
    throw new Error('the port is in use');
  });
  await expect(started).rejects.toThrow('the port is in use');
  expect(steps).toEqual(['c', 'b', 'a']);
  expect(logged).toEqual(failuresInOrder);
});

test('a part that does not stop in time is logged and abandoned, and the others get their turn', async () => {
  const stopInTime = createStopDeadline(log, 50);
  const running = await startWithCleanup(log, async (cleanup) => {
    cleanup.defer(async () => void steps.push('database server'));
    cleanup.defer(stopInTime('pool', () => new Promise(() => steps.push('pool'))));
    cleanup.defer(stopInTime('queue', () => new Promise(() => steps.push('queue'))));
    cleanup.defer(stopInTime('requests', async () => steps.push('requests')));
    return {};
  });
  await running.stop();
  expect(steps).toEqual(['requests', 'queue', 'pool', 'database server']);
  expect(logged).toEqual([
    [{ part: 'queue' }, 'Failed to stop in time'],
    [{ part: 'pool' }, 'Failed to stop in time'],
  ]);
});
