import { expect, test } from 'vitest';
import { createByteBudget } from '../../src/core/byte-budget.ts';

test('a key alone gets half of the budget, and others always find something left', () => {
  const budget = createByteBudget(1_000);
  expect(budget.reserve('a', 501)).toBeNull();
  expect(budget.reserve('a', 500)).not.toBeNull();
  expect(budget.reserve('a', 1)).toBeNull();
  expect(budget.reserve('b', 251)).toBeNull();
  expect(budget.reserve('b', 250)).not.toBeNull();
  expect(budget.reserve('c', 125)).not.toBeNull();
  expect([budget.heldBy('a'), budget.heldBy('b'), budget.heldBy('d')]).toEqual([500, 250, 0]);
});

test('bytes are released once', () => {
  const budget = createByteBudget(1_000);
  const release = budget.reserve('a', 400);
  const other = budget.reserve('a', 100);
  release?.();
  release?.();
  expect(budget.heldBy('a')).toBe(100);
  other?.();
  expect([budget.heldBy('a'), budget.reserve('b', 500) === null]).toEqual([0, false]);
});
