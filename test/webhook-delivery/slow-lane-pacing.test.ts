/** How often the slow lane is polled. */
import { expect, test } from 'vitest';
import { createSlowLanePacing } from '../../src/webhook-delivery/slow-lane-pacing.ts';

function pacingWithClock() {
  let now = 1_000;
  return {
    pacing: createSlowLanePacing(() => now),
    advance: (ms: number) => {
      now += ms;
    },
  };
}

test('the first poll may run at once', () => {
  expect(pacingWithClock().pacing.waitMs()).toBe(0);
});

test.each([
  ['200 ms after a short poll', 5, 200],
  ['ten times its duration after a long poll', 300, 3_000],
])('the next poll may run %s', async (_, durationMs, pauseMs) => {
  const { pacing, advance } = pacingWithClock();
  expect(await pacing.run(async () => advance(durationMs) ?? 'result')).toBe('result');
  expect(pacing.waitMs()).toBe(pauseMs);
  advance(pauseMs - 1);
  expect(pacing.waitMs()).toBe(1);
  advance(1);
  expect(pacing.waitMs()).toBe(0);
});
