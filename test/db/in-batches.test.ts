import { expect, test } from 'vitest';
import { inBatches } from '../../src/db/in-batches.ts';

test.each([
  [0, [0]],
  [1, [1]],
  [2, [2, 0]],
  [5, [2, 2, 1]],
])('of %i rows, batches of two change %j', async (rows, batches) => {
  const changed: number[] = [];
  let left = rows;
  const total = await inBatches(2, async (size) => {
    const count = Math.min(left, size);
    left -= count;
    changed.push(count);
    return count;
  });
  expect([total, changed]).toEqual([rows, batches]);
});
