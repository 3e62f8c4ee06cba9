/**
 * The recorder of finished attempts: every attempt is recorded, in which batches, and what one failure means for
 * others.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type AttemptRecorder, startAttemptRecorder } from '../../src/webhook-delivery/attempt-recorder.ts';
import type { Attempt } from '../../src/webhook-delivery/send-message.ts';
import { quietLog } from '../support/quiet-log.ts';
import { makeAttempt, makeLease, makeMessage } from './fixtures/attempts.ts';

let recorder: AttemptRecorder;
const record = vi.fn(async (_attempts: readonly Attempt[], _mayBeRecorded: boolean): Promise<readonly Attempt[]> => []);
const onRecorded = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  record.mockReset().mockResolvedValue([]);
  onRecorded.mockReset();
  recorder = startAttemptRecorder({ record, onRecorded, log: quietLog });
});
afterEach(async () => {
  await recorder.stop();
  vi.useRealTimers();
});

function settled(ms = 0): Promise<unknown> {
  return vi.advanceTimersByTimeAsync(ms);
}

/** The lease ids of each recorded batch, with whether they may have been recorded before. */
function batches(): [string[], boolean][] {
  return record.mock.calls.map(([attempts, mayBeRecorded]) => [attempts.map(({ lease }) => lease.id), mayBeRecorded]);
}

function addAttempts(...ids: string[]): void {
  for (const id of ids) recorder.add(makeAttempt(id));
}

test('attempts that finish together are recorded together, in the order in which they finished', async () => {
  addAttempts('a', 'b', 'c');
  await settled();
  expect(batches()).toEqual([[['a', 'b', 'c'], false]]);
  expect(onRecorded).toHaveBeenCalledTimes(1);
});

test('attempts that finish while a batch is recorded are in the next batch', async () => {
  const first = Promise.withResolvers<readonly Attempt[]>();
  record.mockReturnValueOnce(first.promise);
  addAttempts('a');
  await settled();
  addAttempts('b', 'c');
  await settled(60_000);
  expect(batches()).toEqual([[['a'], false]]);
  first.resolve([]);
  await settled();
  expect(batches().slice(1)).toEqual([[['b', 'c'], false]]);
});

test('two attempts of one message are never in one batch', async () => {
  const repeated = makeLease('b', 'msg_a');
  addAttempts('a');
  recorder.add(makeAttempt('b', { lease: repeated, message: makeMessage(repeated) }));
  addAttempts('c');
  await settled();
  expect(batches()).toEqual([
    [['a', 'c'], false],
    [['b'], false],
  ]);
});

test('a batch has at most 200 attempts', async () => {
  addAttempts(...Array.from({ length: 450 }, (_, index) => String(index)));
  await settled();
  expect(batches().map(([ids]) => ids.length)).toEqual([200, 200, 50]);
});

test('a batch that fails is recorded again, as one that may have been recorded', async () => {
  record.mockRejectedValueOnce(new Error('the connection broke during the commit'));
  addAttempts('a');
  await settled();
  expect(onRecorded).not.toHaveBeenCalled();
  await settled(1_000);
  expect(batches()).toEqual([
    [['a'], false],
    [['a'], true],
  ]);
  expect(onRecorded).toHaveBeenCalledTimes(1);
  addAttempts('b');
  await settled();
  expect(batches().at(-1)).toEqual([['b'], false]);
});

test('one attempt that cannot be recorded does not block the others', async () => {
  const ids = Array.from({ length: 16 }, (_, index) => String(index));
  record.mockImplementation(async (attempts) => {
    if (attempts.some(({ lease }) => lease.id === '5')) throw new Error('cannot be recorded');
    return [];
  });
  addAttempts(...ids);
  await settled(30_000);
  const recorded = onRecorded.mock.calls.flatMap(([attempts]) => attempts.map(({ lease }: Attempt) => lease.id));
  expect(recorded.toSorted()).toEqual(ids.filter((id) => id !== '5').toSorted());
});

test('an attempt that cannot be recorded yet is tried again after a pause, and delays no other', async () => {
  record.mockImplementationOnce(async (attempts) => attempts.slice(0, 1));
  addAttempts('a', 'b');
  await settled();
  addAttempts('c');
  await settled(499);
  expect(onRecorded.mock.calls.flat(2).map(({ lease }) => lease.id)).toEqual(['b', 'c']);
  await settled(1);
  expect(batches()).toEqual([
    [['a', 'b'], false],
    [['c'], false],
    [['a'], false],
  ]);
  expect(onRecorded.mock.calls.flat(2).map(({ lease }) => lease.id)).toEqual(['b', 'c', 'a']);
});

test('stop waits for the batch under way', async () => {
  const batch = Promise.withResolvers<readonly Attempt[]>();
  record.mockReturnValueOnce(batch.promise);
  addAttempts('a');
  await settled();
  let isStopped = false;
  const stopped = recorder.stop().then(() => {
    isStopped = true;
  });
  await settled(60_000);
  expect(isStopped).toBe(false);
  batch.resolve([]);
  await stopped;
  expect(onRecorded).toHaveBeenCalledTimes(1);
});
