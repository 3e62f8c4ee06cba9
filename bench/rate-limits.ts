/**
 * Measures what rate limits cost each call, and how many calls several processes together admit too many:
 *   node bench/rate-limits.ts [keys=1000] [seconds=5] [perSecond=5000]
 * It starts a PostgreSQL of its own. CPU is that of this process, and so includes sending the statements.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSharedCounts, type SharedCounts } from '../src/auth/shared-counts.ts';
import { openDatabase } from '../src/db/client.ts';
import { startEmbeddedPostgres } from '../src/db/embedded.ts';
import { applyMigrations } from '../src/db/migrate.ts';
import { readOptions } from './options.ts';

const options = readOptions();
const keys = Array.from({ length: Number(options.keys ?? 1_000) }, (_, index) => `user:${index}:7`);
const seconds = Number(options.seconds ?? 5);
const perSecond = Number(options.perSecond ?? 5_000);

const NO_LIMIT = 1_000_000_000;
const TICK_MS = 10;
const EXACT_CALLS = 2_000;
const log = { debug() {}, info() {}, warn: console.warn, error: console.error };

await using cleanup = new AsyncDisposableStack();
const dataDir = await mkdtemp(join(tmpdir(), 'lynxroom-bench-'));
cleanup.defer(() => rm(dataDir, { recursive: true, force: true }));
await chmod(dataDir, 0o755);
const postgres = await startEmbeddedPostgres({ dataDir, log });
cleanup.defer(postgres.stop);
await applyMigrations({ connectionString: postgres.url, log });
const db = openDatabase({ connectionString: postgres.url, poolSize: 10, onError() {} });
cleanup.defer(() => db.$disconnect());

// The first statements load Prisma's query compiler.
await warmUp();
await measureCalls();
await measureExactCalls();
for (const rate of [50, 400]) await measureOvershoot({ processes: 3, limit: 300, rate });

async function warmUp(): Promise<void> {
  const counts = createSharedCounts({ db, log });
  for (let call = 0; call < 100; call += 1) await counts.countExactly('warm-up', NO_LIMIT);
  for (const key of keys) counts.count(key, 1);
  await sleep(1_000);
  await counts.stop();
}

/** Calls per second as asked, spread over the keys, with and without counting. */
async function measureCalls(): Promise<void> {
  const counts = createSharedCounts({ db, log });
  const idle = await cpuOf(() => makeCalls(() => {}));
  const counted = await cpuOf(() => makeCalls((key) => counts.count(key, NO_LIMIT)));
  await counts.stop();
  const calls = seconds * perSecond;
  const microseconds = ((counted - idle) * 1000) / calls;
  print(`${calls} calls of ${keys.length} keys in ${seconds} s: ${microseconds.toFixed(2)} us of CPU a call`);
  const start = performance.now();
  const local = createSharedCounts({ db, log }, { now: () => performance.now(), every: () => () => {} });
  for (let call = 0; call < 1_000_000; call += 1) local.count(keys[call % keys.length] ?? '', NO_LIMIT);
  print(`of which counting in memory: ${((performance.now() - start) / 1000).toFixed(2)} us`);
}

async function makeCalls(call: (key: string) => void): Promise<void> {
  const start = performance.now();
  for (let made = 0; made < seconds * perSecond; ) {
    const due = ((performance.now() - start) / 1000) * perSecond;
    for (; made < due; made += 1) call(keys[made % keys.length] ?? '');
    await sleep(TICK_MS);
  }
}

async function measureExactCalls(): Promise<void> {
  const counts = createSharedCounts({ db, log });
  const start = performance.now();
  const cpu = await cpuOf(async () => {
    for (let call = 0; call < EXACT_CALLS; call += 1) await counts.countExactly(`sign-in ${call % 1_000}`, NO_LIMIT);
  });
  const wall = performance.now() - start;
  await counts.stop();
  const perCall = (ms: number): string => ((ms * 1000) / EXACT_CALLS).toFixed(0);
  print(`an exact call, as for signing in: ${perCall(cpu)} us of CPU, ${perCall(wall)} us`);
}

/** Several processes, each with the given calls per second of one user, until all of them refuse. */
async function measureOvershoot(of: { processes: number; limit: number; rate: number }): Promise<void> {
  const servers: SharedCounts[] = Array.from({ length: of.processes }, () => createSharedCounts({ db, log }));
  const start = performance.now();
  let admitted = 0;
  let made = 0;
  while (admitted < of.limit || made / of.processes < of.rate * 2 * (of.limit / of.rate / of.processes)) {
    const due = ((performance.now() - start) / 1000) * of.rate;
    for (; made / of.processes < due; made += of.processes)
      for (const server of servers) if (server.count(`burst ${of.rate}`, of.limit).calls <= of.limit) admitted += 1;
    await sleep(TICK_MS);
  }
  await Promise.all(servers.map((server) => server.stop()));
  print(`${of.processes} processes, ${of.rate} calls/s each, limit ${of.limit}: ${admitted} admitted`);
}

/** The CPU time of this process during `work`, in milliseconds. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
