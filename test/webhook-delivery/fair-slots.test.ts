/** How the slots of a process are shared between lanes and workspaces. */
import { expect, test } from 'vitest';
import { createFairSlots, type FairSlots } from '../../src/webhook-delivery/fair-slots.ts';

function acquire(slots: FairSlots, lane: 'fast' | 'slow', count: number, workspaceId = 1) {
  for (let index = 0; index < count; index += 1) slots.acquire(`${lane}-${workspaceId}-${index}`, lane, workspaceId);
}

test('the fast lane may have all slots, the slow lane half of them', () => {
  const slots = createFairSlots(10);
  expect([slots.countFree('fast'), slots.countFree('slow')]).toEqual([10, 5]);
  acquire(slots, 'slow', 5);
  expect([slots.countFree('fast'), slots.countFree('slow')]).toEqual([5, 0]);
  acquire(slots, 'fast', 5);
  expect([slots.countFree('fast'), slots.countFree('slow')]).toEqual([0, 0]);
  slots.release('slow-1-0');
  expect([slots.countFree('fast'), slots.countFree('slow')]).toEqual([1, 1]);
});

test('the slow lane gets no more than the fast lane leaves', () => {
  const slots = createFairSlots(10);
  acquire(slots, 'fast', 8);
  expect(slots.countFree('slow')).toBe(2);
});

test('a slot is free once its request has ended, and counts for its workspace until it is released', () => {
  const slots = createFairSlots(20);
  acquire(slots, 'slow', 10);
  acquire(slots, 'fast', 10);
  expect(slots.fullWorkspaces()).toEqual([1]);
  slots.endRequest('slow-1-0');
  slots.endRequest('slow-1-0');
  expect([slots.countFree('fast'), slots.countFree('slow')]).toEqual([1, 1]);
  expect(slots.fullWorkspaces()).toEqual([1]);
  slots.release('slow-1-0');
  expect([slots.countFree('fast'), slots.countFree('slow')]).toEqual([1, 1]);
  expect(slots.fullWorkspaces()).toEqual([]);
});

test('a slot is released once', () => {
  const slots = createFairSlots(4);
  acquire(slots, 'slow', 2);
  slots.release('slow-1-0');
  slots.release('slow-1-0');
  slots.release('unknown');
  expect([slots.countFree('fast'), slots.countFree('slow')]).toEqual([3, 1]);
});

test.each([
  [1_000, 125],
  [80, 20],
])('of %i slots a workspace gets %i, and no more until it releases one', (max, share) => {
  const slots = createFairSlots(max);
  acquire(slots, 'fast', share - 1);
  acquire(slots, 'fast', 3, 2);
  expect(slots.fullWorkspaces()).toEqual([]);
  slots.acquire('one more', 'slow', 1);
  expect(slots.fullWorkspaces()).toEqual([1]);
  slots.release('fast-1-0');
  expect(slots.fullWorkspaces()).toEqual([]);
});
