/** How many rows one statement deletes, unless there is a reason for less. */
export const DELETE_BATCH = 1_000;

/**
 * Calls `step` until it has changed fewer than `size` rows. `step` changes at most that many, in one statement or one
 * transaction, so that it does not take too long and others wait only briefly for its locks. Resolves with the total.
 * If `step` fails, what was changed before remains.
 */
export async function inBatches(size: number, step: (size: number) => Promise<number>): Promise<number> {
  let total = 0;
  for (let count = size; count === size; total += count) count = await step(size);
  return total;
}
