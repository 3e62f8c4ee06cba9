/** Who gets the places of a process. */
import { expect, test } from 'vitest';
import { createPlaces } from '../../src/webhook-delivery/concurrency.ts';

function take(places: ReturnType<typeof createPlaces>, lane: 'fast' | 'slow', count: number, workspaceId = 1) {
  for (let index = 0; index < count; index += 1) places.take(`${lane}-${workspaceId}-${index}`, lane, workspaceId);
}

test('the fast lane may have all places, the slow one half of them', () => {
  const places = createPlaces(10);
  expect([places.free('fast'), places.free('slow')]).toEqual([10, 5]);
  take(places, 'slow', 5);
  expect([places.free('fast'), places.free('slow')]).toEqual([5, 0]);
  take(places, 'fast', 5);
  expect([places.free('fast'), places.free('slow')]).toEqual([0, 0]);
  places.leave('slow-1-0');
  expect([places.free('fast'), places.free('slow')]).toEqual([1, 1]);
});

test('what is left by the fast lane is all that the slow one gets', () => {
  const places = createPlaces(10);
  take(places, 'fast', 8);
  expect(places.free('slow')).toBe(2);
});

test('a place is left once', () => {
  const places = createPlaces(4);
  take(places, 'slow', 2);
  places.leave('slow-1-0');
  places.leave('slow-1-0');
  places.leave('unknown');
  expect([places.free('fast'), places.free('slow')]).toEqual([3, 1]);
});

test.each([
  [1_000, 125],
  [80, 20],
])('of %i places a workspace gets %i, and no more until some are left', (max, ofWorkspace) => {
  const places = createPlaces(max);
  take(places, 'fast', ofWorkspace - 1);
  take(places, 'fast', 3, 2);
  expect(places.fullWorkspaces()).toEqual([]);
  places.take('one more', 'slow', 1);
  expect(places.fullWorkspaces()).toEqual([1]);
  places.leave('fast-1-0');
  expect(places.fullWorkspaces()).toEqual([]);
});
