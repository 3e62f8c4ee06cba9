/** Time zones by name. */
import { expect, test } from 'vitest';
import { findZone } from '../../src/core/time-zones.ts';

test('a zone is found in any letter case, and under its old names', () => {
  expect(findZone('europe/BERLIN')?.name).toBe('Europe/Berlin');
  expect(findZone('US/Eastern')?.name).toBe('America/New_York');
  expect(findZone('Asia/Calcutta')).toBe(findZone('Asia/Calcutta'));
});

test('there is none for an unknown name', () => {
  for (const name of ['Mars/Olympus', '', 'Europe/Berlin ']) expect(findZone(name)).toBeNull();
});

test('more spellings than are cached are found', () => {
  const spellings = Array.from({ length: 2_100 }, (_, number) =>
    [...'europe/berlin'].map((letter, at) => ((number >> at) & 1 ? letter.toUpperCase() : letter)).join(''),
  );
  expect(new Set(spellings.map((name) => findZone(name)?.name))).toEqual(new Set(['Europe/Berlin']));
});
