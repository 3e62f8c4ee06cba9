/**
 * Measures what durable webhooks cost: how fast the worker drains a backlog of 1 kB events, compared with a sender that
 * stores nothing and one that only inserts attempts in batches; and the latency of events at an ordinary rate.
 * Interleaved rounds:
 *   taskset -c 1 node bench/webhooks.ts [rounds=5] [seconds=3] [events=10000] [concurrency=64] [webhooks=8] [rate=50]
 * The worker and the senders run on CPU 0; PostgreSQL, the receiver and this script share CPU 1. Linux only. It takes
 * three minutes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readOptions } from './options.ts';
import { cpuMs, spread } from './upload-servers.ts';
import {
  type BenchDatabase,
  emitSteadily,
  latenciesOf,
  monotonicMs,
  openWebhookWorld,
  quantile,
  roomCreated,
  type WorkerRun,
} from './webhook-world.ts';

const options = readOptions();
const rounds = Number(options.rounds ?? 5);
const seconds = Number(options.seconds ?? 3);
const events = Number(options.events ?? 10_000);
const concurrency = options.concurrency ?? '64';
const webhooks = Number(options.webhooks ?? 8);
const rate = Number(options.rate ?? 50);

const WARM_UP_EVENTS = 2_000;
const LATENCY_SECONDS = 10;
const POLL_MS = 10;

const world = await openWebhookWorld();
await using cleanup = new AsyncDisposableStack();
cleanup.defer(() => world.close());
const { receiver } = world;

/** Each event is for one webhook, and each webhook has a workspace of its own. */
const paths = Array.from({ length: webhooks }, (_, index) => [`/${index}`]);
const database = await world.createDatabase(paths);
cleanup.defer(() => database.close());
await database.db.$executeRaw`
  create table bench_attempts (id bigint generated always as identity primary key, webhook_id int, event text,
    payload text, response_status int, response_body text, created_at timestamptz default now())`;
const worker = await world.startWorker(database, { WEBHOOK_CONCURRENCY: concurrency });

let rooms = 0;
function newEvent({ workspaceIds }: BenchDatabase) {
  rooms += 1;
  return roomCreated(workspaceIds[rooms % workspaceIds.length] ?? 0, rooms);
}

type Figures = { perSecond: number; cpuUs: number };

/** Measures from the commit of all events at once until the last attempt is recorded. */
async function drain({ pid }: WorkerRun, count: number): Promise<Figures> {
  await receiver.take();
  const backlog = Array.from({ length: count }, () => newEvent(database));
  const cpuBefore = cpuMs(pid);
  const start = await database.emit(backlog);
  await receiver.reached(count);
  while ((await database.db.webhookMessage.count({ where: { status: 'waiting' } })) > 0) await sleep(POLL_MS);
  const figures = {
    perSecond: count / ((monotonicMs() - start) / 1000),
    cpuUs: ((cpuMs(pid) - cpuBefore) * 1000) / count,
  };
  const { length } = await receiver.take();
  if (length !== count) throw new Error(`${length} requests arrived for ${count} events`);
  return figures;
}

async function measureLatency(): Promise<number[]> {
  await receiver.take();
  const events = Array.from({ length: LATENCY_SECONDS * rate }, () => newEvent(database));
  const committedAt = await emitSteadily(database, rate, events);
  await receiver.reached(events.length);
  return latenciesOf(await receiver.take(), committedAt);
}

const ways = ['bare', 'batch', 'engine'] as const;
const figures: Record<(typeof ways)[number], Figures[]> = { bare: [], batch: [], engine: [] };
const latencies: number[][] = [];
await drain(worker, WARM_UP_EVENTS);
for (let round = 0; round < rounds; round += 1) {
  for (const way of round % 2 === 0 ? ways : [...ways].reverse()) {
    const env = { WAY: way, SECONDS: String(seconds), CONCURRENCY: concurrency, DATABASE_URL: database.url };
    figures[way].push(way === 'engine' ? await drain(worker, events) : await world.runSender(env));
    await receiver.take();
  }
  latencies.push(await measureLatency());
}
await worker.stop();

console.log('method | deliveries/s | CPU µs each | rate / bare | rate / batch');
for (const way of ways) {
  const ratesTo = (other: (typeof ways)[number]): number[] =>
    figures[way].map(({ perSecond }, round) => perSecond / (figures[other][round]?.perSecond ?? Number.NaN));
  const speed = spread(figures[way].map(({ perSecond }) => perSecond));
  const cpu = spread(figures[way].map(({ cpuUs }) => cpuUs));
  console.log(`${way} | ${speed} | ${cpu} | ${spread(ratesTo('bare'), 2)} | ${spread(ratesTo('batch'), 2)}`);
}
const shares = [0.5, 0.99].map((share) =>
  spread(
    latencies.map((values) => quantile(values, share)),
    1,
  ),
);
console.log(`\ncommit to receiver at ${rate} events/s, ms | p50 ${shares[0]} | p99 ${shares[1]}`);
