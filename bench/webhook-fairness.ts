/**
 * Measures whether failing receivers delay working ones: the time from commit to receiver for 98 healthy webhooks
 * alone, and next to one that never responds and one that responds after 9.5 s. Interleaved rounds, each on a new
 * database:
 *   taskset -c 1 node bench/webhook-fairness.ts [rounds=5] [seconds=30] [rate=40]
 * `rate` is in events per second, each for the five webhooks of one of 20 workspaces. The worker runs on CPU 0;
 * PostgreSQL, the receiver and this script share CPU 1. Linux only. It takes seven minutes.
 */
import { readOptions } from './options.ts';
import { median, spread } from './upload-servers.ts';
import { emitSteadily, latenciesOf, openWebhookWorld, quantile, roomCreated } from './webhook-world.ts';

const options = readOptions();
const rounds = Number(options.rounds ?? 5);
const seconds = Number(options.seconds ?? 30);
const rate = Number(options.rate ?? 40);

const WORKSPACES = 20;
const WEBHOOKS_EACH = 5;
const WARM_UP_SECONDS = 5;
const FAILING = ['/dead', '/slow'];

/** The first webhook of the first two workspaces fails in the mixed case, and is missing in the healthy case. */
function pathsOf(way: 'healthy' | 'mixed'): string[][] {
  return Array.from({ length: WORKSPACES }, (_, workspace) =>
    Array.from({ length: WEBHOOKS_EACH }, (_, webhook) =>
      webhook === 0 && workspace < FAILING.length ? (FAILING[workspace] ?? '') : `/${workspace}-${webhook}`,
    ).filter((path) => way === 'mixed' || !FAILING.includes(path)),
  );
}

const world = await openWebhookWorld();
await using cleanup = new AsyncDisposableStack();
cleanup.defer(() => world.close());
const { receiver } = world;

/** Returns the latencies of healthy receivers, and how many messages of the dead receiver are pending at the end. */
async function measure(way: 'healthy' | 'mixed'): Promise<{ latencies: number[]; backlog: number }> {
  const database = await world.createDatabase(pathsOf(way));
  const worker = await world.startWorker(database);
  await receiver.take();
  const { workspaceIds } = database;
  const events = Array.from({ length: (WARM_UP_SECONDS + seconds) * rate }, (_, index) =>
    roomCreated(workspaceIds[index % WORKSPACES] ?? 0, index + 1),
  );
  const committedAt = await emitSteadily(database, rate, events);
  const arrivals: Awaited<ReturnType<typeof receiver.take>> = [];
  const healthy = (events.length / WORKSPACES) * (WORKSPACES * WEBHOOKS_EACH - FAILING.length);
  while (arrivals.length < healthy) {
    await receiver.reached(1);
    arrivals.push(...(await receiver.take()).filter(({ path }) => !FAILING.includes(path)));
  }
  const backlog = await database.db.webhookMessage.count({ where: { status: 'waiting', webhook: { name: '/dead' } } });
  await worker.stop('SIGKILL');
  await database.close();
  const measured = arrivals.filter(({ roomId }) => roomId > WARM_UP_SECONDS * rate);
  return { latencies: latenciesOf(measured, committedAt), backlog };
}

const got = { healthy: [] as number[][], mixed: [] as number[][] };
for (let round = 0; round < rounds; round += 1)
  for (const way of round % 2 === 0 ? (['healthy', 'mixed'] as const) : (['mixed', 'healthy'] as const)) {
    const { latencies, backlog } = await measure(way);
    got[way].push(latencies);
    if (way === 'mixed')
      console.log(`round ${round + 1}: ${backlog} messages are pending for the dead receiver at its end`);
  }

console.log('\ncommit to receiver, ms | p50 | p99');
for (const way of ['healthy', 'mixed'] as const) {
  const [p50, p99] = [0.5, 0.99].map((share) => got[way].map((values) => quantile(values, share)));
  console.log(`${way} | ${spread(p50 ?? [], 1)} | ${spread(p99 ?? [], 1)}`);
}
const ratios = got.mixed.map((values, round) => median(values) / median(got.healthy[round] ?? []));
console.log(`mixed / healthy, medians by round | ${spread(ratios, 2)}`);
