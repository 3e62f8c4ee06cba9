/** The poll loop: when it polls, that no wake-up is lost, and how it ends. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import { startPollLoop } from '../../src/jobs/poll-loop.ts';
import { quietLog } from '../support/quiet-log.ts';

/** Ends the loops of a test. A poll that never ends would later look like one that has hung. */
let endLoops: (() => Promise<void>)[] = [];

beforeEach(() => void vi.useFakeTimers());
afterEach(async () => {
  for (const end of endLoops) await end();
  endLoops = [];
  vi.useRealTimers();
});

/** Lets everything happen that needs no time to pass. */
function settled(): Promise<unknown> {
  return vi.advanceTimersByTimeAsync(0);
}

/** A loop whose polls end when the test ends them, with the milliseconds until the next one or with an error. */
function startManualLoop(log: Log = quietLog) {
  const polls: PromiseWithResolvers<number>[] = [];
  const loop = startPollLoop({
    name: 'test',
    log,
    poll: () => {
      const poll = Promise.withResolvers<number>();
      polls.push(poll);
      return poll.promise;
    },
  });
  endLoops.push(async () => {
    const stopped = loop.stop();
    for (const poll of polls) poll.resolve(0);
    await settled();
    await stopped;
  });
  return {
    ...loop,
    /** How many polls have started. */
    started: () => polls.length,
    async end(waitMs: number) {
      polls.at(-1)?.resolve(waitMs);
      await settled();
    },
    async fail(error = new Error('broken')) {
      polls.at(-1)?.reject(error);
      await settled();
    },
  };
}

/** A log that stores its lines. */
function memoryLog() {
  const lines: { level: string; details: object; message: string }[] = [];
  const write = (level: string) => (details: object, message: string) => void lines.push({ level, details, message });
  const log: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  return { lines, log };
}

describe('a poll loop', () => {
  test('polls as soon as it is started', () => {
    expect(startManualLoop().started()).toBe(1);
  });

  test('polls again after the time that a poll has returned, and no sooner', async () => {
    const { started, end } = startManualLoop();
    await end(500);
    await vi.advanceTimersByTimeAsync(499);
    expect(started()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(started()).toBe(2);
  });

  test('polls again at once after a poll that has returned 0', async () => {
    const { started, end } = startManualLoop();
    await end(0);
    expect(started()).toBe(2);
  });

  test('polls at once when it is woken between two polls', async () => {
    const { started, end, wake } = startManualLoop();
    await end(500);
    wake();
    await settled();
    expect(started()).toBe(2);
  });

  test('does not lose a wake-up that comes during a poll', async () => {
    const { started, end, wake } = startManualLoop();
    wake();
    await end(500);
    expect(started()).toBe(2);
  });

  test('polls once more for any number of wake-ups during a poll, and then waits', async () => {
    const { started, end, wake } = startManualLoop();
    for (let index = 0; index < 3; index += 1) wake();
    await end(500);
    await end(500);
    expect(started()).toBe(2);
    await vi.advanceTimersByTimeAsync(500);
    expect(started()).toBe(3);
  });

  test('waits the whole time after a poll that began with a wake-up', async () => {
    const { started, end, wake } = startManualLoop();
    await end(500);
    await vi.advanceTimersByTimeAsync(400);
    wake();
    await settled();
    await end(500);
    await vi.advanceTimersByTimeAsync(499);
    expect(started()).toBe(2);
  });

  test('never runs two polls at once, however long one takes and however often it is woken', async () => {
    const { started, wake } = startManualLoop();
    for (let index = 0; index < 3; index += 1) {
      wake();
      await vi.advanceTimersByTimeAsync(60_000);
    }
    expect(started()).toBe(1);
  });
});

describe('a poll that fails', () => {
  test('is logged with the name of the loop, and the next one follows after a second', async () => {
    const { lines, log } = memoryLog();
    const { started, end, fail } = startManualLoop(log);
    const error = new Error('broken');
    await fail(error);
    expect(lines).toEqual([{ level: 'error', details: { err: error, loop: 'test' }, message: 'A poll failed' }]);
    await vi.advanceTimersByTimeAsync(999);
    expect(started()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(started()).toBe(2);
    await end(500);
    await vi.advanceTimersByTimeAsync(500);
    expect(started()).toBe(3);
  });

  test('is not repeated at once for wake-ups that came before it failed', async () => {
    const { started, fail, wake } = startManualLoop();
    wake();
    await fail();
    await vi.advanceTimersByTimeAsync(999);
    expect(started()).toBe(1);
  });

  test('is repeated at once for a wake-up after it', async () => {
    const { started, fail, wake } = startManualLoop();
    await fail();
    wake();
    await settled();
    expect(started()).toBe(2);
  });

  test('may fail again and again: the loop goes on', async () => {
    const { started, fail } = startManualLoop();
    for (let failed = 1; failed <= 5; failed += 1) {
      await fail();
      await vi.advanceTimersByTimeAsync(1_000);
      expect(started()).toBe(failed + 1);
    }
  });
});

describe('stop', () => {
  /** Whether a promise has settled by now. */
  async function hasSettled(promise: Promise<unknown>): Promise<boolean> {
    let isSettled = false;
    void promise.finally(() => {
      isSettled = true;
    });
    await settled();
    return isSettled;
  }

  test.each([0, 500])('waits for the poll under way, and starts none after it (which returns %i)', async (waitMs) => {
    const { started, end, stop } = startManualLoop();
    const stopped = stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await hasSettled(stopped)).toBe(false);
    await end(waitMs);
    expect(await hasSettled(stopped)).toBe(true);
    expect(started()).toBe(1);
  });

  test('resolves also when the poll under way fails', async () => {
    const { started, fail, stop } = startManualLoop();
    const stopped = stop();
    await fail();
    expect(await hasSettled(stopped)).toBe(true);
    expect(started()).toBe(1);
  });

  test('between two polls resolves at once, and leaves no timer behind', async () => {
    const { started, end, stop, wake } = startManualLoop();
    await end(60_000);
    expect(await hasSettled(stop())).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
    wake();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(started()).toBe(1);
  });

  test('may be called twice', async () => {
    const { end, stop } = startManualLoop();
    await end(500);
    expect(await hasSettled(Promise.all([stop(), stop()]))).toBe(true);
  });
});
