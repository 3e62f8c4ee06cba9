/** Which downloads are disconnected, if too many are slow. */
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSlowReaders } from '../../src/http/slow-readers.ts';

const STALL_MS = 6_000;
const PERIOD_MS = 12_000;
const MIN_BYTES = 1_000;

let readers: ReturnType<typeof createSlowReaders>;
/** The names of the downloads that were disconnected, in order. */
let disconnected: string[];
beforeEach(() => {
  vi.useFakeTimers();
  disconnected = [];
  const limits = { stallMs: STALL_MS, periodMs: PERIOD_MS, minBytes: MIN_BYTES };
  readers = createSlowReaders({ ...limits, perNetwork: 2, perUrl: 2, total: 3 });
});
afterEach(() => vi.useRealTimers());

/** A download that sends `bytesPerSecond` as long as it is watched. */
function download(name: string, network: string, { bytesPerSecond = 0, isWaitingForClient = true, url = name } = {}) {
  const rate = { bytesPerSecond };
  let sent = 0;
  const timer = setInterval(() => {
    sent += rate.bytesPerSecond;
  }, 1_000);
  const destroy = () => {
    disconnected.push(name);
    stop();
  };
  // `as`: the parts of a response that are used.
  const response = { writableNeedDrain: isWaitingForClient, destroy } as unknown as ServerResponse;
  const endWatch = readers.watch({ response, network, url, sentBytes: () => sent });
  function stop(): void {
    clearInterval(timer);
    endWatch();
  }
  return { rate, stop };
}

/** Lets a download become slow before the next starts. */
const pass = (ms: number) => vi.advanceTimersByTime(ms);

test('as many as a network may have are never disconnected', () => {
  download('a', 'one');
  download('b', 'one');
  pass(3_600_000);
  expect(disconnected).toEqual([]);
});

test('beyond that, the one that has been slow for the longest time is', () => {
  for (const name of ['a', 'b', 'c', 'd']) {
    download(name, 'one');
    pass(STALL_MS + 1_000);
  }
  expect(disconnected).toEqual(['a', 'b']);
});

test('with one URL, too, the one that has been slow for the longest time is', () => {
  for (const name of ['a', 'b', 'c']) {
    download(name, name, { url: 'shared' });
    pass(STALL_MS + 1_000);
  }
  expect(disconnected).toEqual(['a']);
});

test('beyond the limit of the process, it is one of the network with the most', () => {
  download('other', 'two');
  pass(STALL_MS + 1_000);
  for (const name of ['a', 'b']) {
    download(name, 'one');
    pass(STALL_MS + 1_000);
  }
  download('last', 'three');
  pass(STALL_MS + 1_000);
  expect(disconnected).toEqual(['a']);
});

test('a reader below the minimum rate is slow, and one that reaches it is not', () => {
  download('below', 'one', { bytesPerSecond: (MIN_BYTES / PERIOD_MS) * 1_000 - 10 });
  download('above', 'one', { bytesPerSecond: (MIN_BYTES / PERIOD_MS) * 1_000 + 10 });
  pass(PERIOD_MS * 2);
  for (const name of ['a', 'b']) {
    download(name, 'one');
    pass(STALL_MS + 1_000);
  }
  expect(disconnected).toEqual(['below']);
});

test('a player that goes on, a download that ends, and a server that has nothing to send do not count', () => {
  const player = download('player', 'one');
  const ended = download('ended', 'one');
  pass(PERIOD_MS * 2);
  player.rate.bytesPerSecond = MIN_BYTES;
  ended.stop();
  download('server', 'one', { isWaitingForClient: false });
  pass(PERIOD_MS * 2);
  for (const name of ['a', 'b']) {
    download(name, 'one');
    pass(STALL_MS + 1_000);
  }
  expect(disconnected).toEqual([]);
  download('c', 'one');
  pass(STALL_MS + 1_000);
  expect(disconnected).toEqual(['a']);
});
