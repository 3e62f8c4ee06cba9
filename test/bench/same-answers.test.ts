/** The servers that the benchmark compares return the same, so that `npm run bench` keeps working as the API grows. */
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkAnswers } from '../../bench/requests/check-answers.ts';
import { startTargets } from '../../bench/requests/targets.ts';
import { openWorld, seedLimit, seedOurs, type World } from '../../bench/world.ts';

const canRun = process.platform === 'linux' && availableParallelism() > 1;
const sizes = { items: 500, labels: 5, contacts: 20, contactEvents: 10 };

let world: World;
beforeAll(async () => {
  if (canRun) world = await openWorld();
});
afterAll(() => world?.close());

// The naive server is left out: it needs packages of its own.
test.runIf(canRun)('the limit, the server with the same duties and ours return the same', async () => {
  await using cleanup = new AsyncDisposableStack();
  const databases = {
    limit: await world.createDatabase('bench_limit'),
    ours: await world.createDatabase('bench_ours'),
    folder: world.folder,
  };
  await seedLimit(databases.limit, sizes);
  const tokens = await seedOurs(databases.ours, sizes, 'key');
  const targets = await startTargets(['limit', 'rows-kept', 'duties', 'ours-rest'], databases, cleanup);
  await expect(checkAnswers(targets, tokens)).resolves.toBeUndefined();
});
