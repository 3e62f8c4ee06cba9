/**
 * `npm run chaos [-- kills=20 only=faults|attacks]`: breaks the network, the database and the server under load, one
 * fault at a time, and prints a table. It fails if anything that was acknowledged is lost, if a request is answered
 * with an error other than 503, if one waits longer than 15 s, or if the service needs more than 5 s to recover from a
 * fault. Then it attacks a server with the default settings: see attacks/run-attacks.ts. Linux only. It takes about a
 * quarter of an hour.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { runAttacks } from './attacks/run-attacks.ts';
import { type Fault, faults, kills } from './faults.ts';
import { type Load, type Sample, startLoad } from './load.ts';
import { findLosses } from './losses.ts';
import { type ChaosWorld, startChaosWorld } from './world.ts';

const MAX_REQUEST_MS = 15_000;
const MAX_RECOVERY_MS = 5_000;
const QUIET_MS = 3_000;
/** For how long after a fault a failure still counts as part of it. Longer than the longest request. */
const WATCH_MS = 17_000;
const DEFAULT_KILLS = 20;

type Row = {
  fault: string;
  requests: number;
  failed: number;
  longestMs: number;
  /** From the end of the fault until the start of the first request after which nothing failed. */
  recoveryMs: number;
  problems: string[];
};

function isFailed({ status }: Sample): boolean {
  return status === 0 || status >= 400;
}

async function measure(world: ChaosWorld, load: Load, { name, cause }: Fault, watchMs: number): Promise<Row> {
  await sleep(QUIET_MS);
  const from = performance.now();
  const first = load.samples.length;
  await cause(world);
  const endedAt = performance.now();
  await sleep(watchMs);
  const samples = load.samples.slice(first).filter(({ startedAt, durationMs }) => startedAt + durationMs >= from);
  const failed = samples.filter(isFailed);
  const lastFailureAt = Math.max(endedAt, ...failed.map(({ startedAt }) => startedAt));
  const firstSuccess = samples.find((sample) => sample.startedAt >= lastFailureAt && !isFailed(sample));
  const row = {
    fault: name,
    requests: samples.length,
    failed: failed.length,
    longestMs: Math.max(0, ...samples.map(({ durationMs }) => durationMs)),
    recoveryMs: (firstSuccess?.startedAt ?? Number.POSITIVE_INFINITY) - endedAt,
  };
  return { ...row, problems: findProblems(row, failed) };
}

function findProblems({ longestMs, recoveryMs }: Omit<Row, 'problems'>, failed: readonly Sample[]): string[] {
  const wrong = failed.filter(({ status }) => status !== 0 && status !== 503);
  return [
    ...(longestMs > MAX_REQUEST_MS ? ['a request waited too long'] : []),
    ...(recoveryMs > MAX_RECOVERY_MS ? ['the recovery took too long'] : []),
    ...(wrong.length > 0 ? [`statuses ${[...new Set(wrong.map(({ status }) => status))].join(', ')}`] : []),
  ];
}

function print({ fault, requests, failed, longestMs, recoveryMs, problems }: Row): void {
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const cells = [fault, requests, failed, seconds(longestMs), seconds(recoveryMs), problems.join('; ') || 'ok'];
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

/** Several kills as one row of the table. */
function summarize(rows: readonly Row[], fault: string): Row {
  const total = (read: (row: Row) => number): number => rows.reduce((sum, row) => sum + read(row), 0);
  return {
    fault: `${rows.length} times ${fault}`,
    requests: total(({ requests }) => requests),
    failed: total(({ failed }) => failed),
    longestMs: Math.max(...rows.map(({ longestMs }) => longestMs)),
    recoveryMs: Math.max(...rows.map(({ recoveryMs }) => recoveryMs)),
    problems: [...new Set(rows.flatMap(({ problems }) => problems))],
  };
}

async function run(killCount: number): Promise<boolean> {
  await using cleanup = new AsyncDisposableStack();
  const world = await startChaosWorld(cleanup);
  const load = startLoad(() => world.url, world.users);
  cleanup.defer(load.stop);
  process.stdout.write(
    '| Fault | Requests | Failed | Longest request | Recovered after | |\n|---|---|---|---|---|---|\n',
  );
  const rows: Row[] = [];
  for (const fault of faults) {
    const row = await measure(world, load, fault, WATCH_MS);
    print(row);
    rows.push(row);
  }
  for (const [index, kill] of kills.entries()) {
    const single: Row[] = [];
    for (let count = index; count < killCount; count += kills.length)
      single.push(await measure(world, load, kill, MAX_RECOVERY_MS + 1_000));
    if (single.length === 0) continue;
    const row = summarize(single, kill.name);
    print(row);
    rows.push(row);
  }
  await load.stop();
  const { rooms, items } = load.acknowledged;
  const losses = await findLosses(world, load.acknowledged);
  process.stdout.write(`\n${rooms.size} rooms, ${items.size} uploads and their webhooks were acknowledged; `);
  process.stdout.write(losses.length === 0 ? 'nothing is lost\n' : `lost:\n${losses.join('\n')}\n`);
  return losses.length === 0 && rows.every(({ problems }) => problems.length === 0);
}

const options = new Map(
  process.argv.slice(2).map((argument) => argument.split('=', 2) as [string, string | undefined]),
);
const only = options.get('only');
const results = [
  ...(only === 'attacks' ? [] : [await run(Number(options.get('kills') ?? DEFAULT_KILLS))]),
  ...(only === 'faults' ? [] : [await runAttacks()]),
];
process.exitCode = results.every(Boolean) ? 0 : 1;
