import { expect, test } from 'vitest';
import { countPasswordSlots } from '../../src/auth/passwords.ts';

test.each([
  [1, 4, 1],
  [2, 4, 2],
  [8, 4, 2],
  [8, 16, 8],
  [4, 1, 1],
])('%i cores and %i threads hash %i passwords at a time', (cores, threads, slots) => {
  expect(countPasswordSlots(cores, threads)).toBe(slots);
});
