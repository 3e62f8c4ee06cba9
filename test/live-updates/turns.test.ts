/** Streams take turns by what they are about, so that a busy room does not delay the others. */
import { afterEach, expect, test } from 'vitest';
import { createOpenStreams, type OpenStreams } from '../../src/live-updates/open-streams.ts';
import { quietLog } from '../support/quiet-log.ts';

let streams: OpenStreams;
afterEach(() => {
  streams.endAll();
  streams.stop();
});

test('a change in a quiet room is read after at most one more stream of a busy room', async () => {
  streams = createOpenStreams({ perOwner: 10, perProcess: 1_000, recheckMs: 60_000 }, quietLog);
  const started: string[] = [];
  const blocked: (() => void)[] = [];
  const open = (group: string, owner: string): void => {
    streams.open({
      owner,
      network: null,
      guestIn: null,
      group,
      topics: [group],
      hungUp: new AbortController().signal,
      recheck() {
        started.push(group);
        return new Promise((resolve) => blocked.push(resolve));
      },
    });
  };
  for (let at = 0; at < 100; at += 1) open('room:1', `participant:${at}`);
  open('room:2', 'participant:200');
  streams.recheck('room:1');
  streams.recheck('room:2');
  await expect.poll(() => started.length).toBeGreaterThan(0);
  const slots = started.length;
  expect(started).toEqual(Array(slots).fill('room:1'));
  for (const unblock of blocked.splice(0, 2)) unblock();
  await expect.poll(() => started.length).toBe(slots + 2);
  expect(started.slice(slots)).toContain('room:2');
  for (let end = 0; end < 101; end += 1) {
    blocked.shift()?.();
    await Promise.resolve();
  }
});
