/** How the relay counts pending messages: at most once a second. */
import { expect, test } from 'vitest';
import type { Sql } from '../../src/db/statements.ts';
import { createPendingCounts } from '../../src/webhook-delivery/queue-position.ts';

/** A database in which each workspace has as many pending messages as `pending` says. */
function makeDatabase(pending: Record<number, number>) {
  const queries: number[][] = [];
  const sql = {
    async run(_: unknown, { workspaceIds }: { workspaceIds: number[] }) {
      queries.push(workspaceIds);
      return workspaceIds.map((id) => ({ id, pending: pending[id] }));
    },
  };
  // `as`: it answers the one statement that is run here.
  return { queries, sql: sql as unknown as Sql };
}

test('a count is used for a second, together with what was added meanwhile', async () => {
  const { sql, queries } = makeDatabase({ 7: 5_000, 8: 3 });
  let now = 0;
  const counts = createPendingCounts(() => now);
  await counts.load(sql, [7]);
  expect([counts.next(7), counts.next(7)]).toEqual([5_000, 5_001]);
  now = 1_000;
  await counts.load(sql, [7, 8]);
  expect([counts.next(7), counts.next(8)]).toEqual([5_002, 3]);
  now = 1_001;
  await counts.load(sql, [7, 8]);
  expect([counts.next(7), counts.next(8)]).toEqual([5_000, 4]);
  expect(queries).toEqual([[7], [8], [7]]);
});
