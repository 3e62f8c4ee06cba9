/**
 * Measures whether one account can slow down the others: the p99 of four accounts that read a little, alone and while
 * one account sends the same call over 16 connections without pause, in interleaved rounds:
 *   npm run bench -- fairness [attacks=search,times] [rounds=5] [seconds=4] [connections=16] [compare=<checkout>]
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createToken } from '../../src/auth/tokens.ts';
import { type Call, openConnection } from '../load.ts';
import { readOptions } from '../options.ts';
import { describeRun, toTable, writeSection } from '../report.ts';
import { startOurs } from '../requests/targets.ts';
import { median, spread } from '../upload-servers.ts';
import { quantile } from '../webhook-world.ts';
import { openWorld, query, runFile, seedOurs, workspaces } from '../world.ts';
import type { Outcome } from './attacker.ts';
import { attacks } from './attacks.ts';

type Server = { name: string; url: string; results: Map<string, Round[]> };
type Other = { token: string; workspaceId: number };
type Round = { alone: number[]; during: number[]; perSecond: number; outcome: Outcome };

const OTHERS = 4;
/** The others pause between their calls. Together they make about 200 calls a second. */
const PAUSE_MS = 15;
/** How long an attack lasts before the calls of the others are measured. */
const LEAD_SECONDS = 1;
/** How long the server gets to end what an attack has left behind. */
const SETTLE_MS = 2_000;
const WARM_UP_SECONDS = 3;
const PAGES = 1_000;
const attackerPath = fileURLToPath(new URL('attacker.ts', import.meta.url));
const runFileOf = promisify(execFile);

export async function run(): Promise<void> {
  const options = readOptions();
  const rounds = Number(options.rounds ?? 5);
  const seconds = Number(options.seconds ?? 4);
  const connections = Number(options.connections ?? 16);
  const part = Number(options.quantile ?? 0.99);
  const names = options.attacks?.split(',') ?? Object.keys(attacks);
  await using cleanup = new AsyncDisposableStack();
  const world = await openWorld();
  cleanup.defer(() => world.close());
  const database = await world.createDatabase('bench_fairness');
  const sizes = { items: Number(options.items ?? 100_000), labels: 200, contacts: 10_000, contactEvents: 1_000 };
  const tokens = await seedOurs(database, sizes, 'session');
  await runFile(database, 'seed-fairness.sql', { pages: PAGES });
  await query(database, 'vacuum analyze');
  const others = await addOthers(database);
  await world.settle();

  const servers: Server[] = [];
  for (const [name, checkout] of [
    ['', undefined],
    ...(options.compare ? [['before', options.compare] as const] : []),
  ] as const) {
    const server = await startOurs(
      database,
      world.folder,
      { RATE_LIMIT_EXPORTS: '0', DATABASE_POOL_SIZE: '10' },
      // V8 collects garbage in threads of its own, which would stop the server if it had only one CPU.
      '0,1',
      checkout,
    );
    cleanup.defer(server.stop);
    servers.push({ name, url: server.url, results: new Map() });
  }
  for (const { url } of servers) await readAsOthers(url, others, WARM_UP_SECONDS);
  for (const name of names) {
    const attack = attacks[name];
    if (attack === undefined) throw new Error(`Unknown attack ${name}`);
    const call = { ...attack.call, ...(!attack.isPublic && { token: tokens.get(workspaces.read) }) };
    for (const { url } of servers) await attackWith(url, call, connections, WARM_UP_SECONDS);
    await sleep(SETTLE_MS);
    for (let round = 0; round < rounds; round += 1)
      for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
        const measured = await measure(server.url, call, others, connections, seconds);
        server.results.set(name, [...(server.results.get(name) ?? []), measured]);
        console.log(`${name} ${server.name}: ${describe(measured)}`);
      }
  }
  const rows = servers.flatMap(({ name, results }) =>
    [...results].map(([key, all]) => toRow(`${attacks[key]?.title}${name && `, ${name}`}`, all, part)),
  );
  const percentile = `p${part * 100}`;
  const head = ['Attack', `${percentile} alone, ms`, `${percentile} during, ms`, 'ratio', 'calls/s', 'refused', 'cut'];
  const details = `${connections} connections of one account, ${OTHERS} others; ${rounds} rounds; median (range).`;
  const isWhole = options.attacks === undefined && options.compare === undefined;
  const text = `${describeRun(details)}\n\n${toTable(head, rows)}`;
  await writeSection('performance.md', 'fairness', text, isWhole && options.write !== '0');
}

function describe({ alone, during, outcome }: Round): string {
  const quantiles = (values: number[]): string =>
    [0.5, 0.9, 0.99].map((part) => quantile(values, part).toFixed(1)).join(' ');
  return `p50, p90, p99 alone ${quantiles(alone)}, during ${quantiles(during)}; ${JSON.stringify(outcome)}`;
}

function toRow(title: string, rounds: readonly Round[], part: number): string[] {
  const aloneMs = ({ alone }: Round): number => quantile(alone, part);
  const duringMs = ({ during }: Round): number => quantile(during, part);
  const column = (read: (round: Round) => number): number[] => rounds.map(read);
  const share = (read: (outcome: Outcome) => number): string => {
    const all = rounds.map(({ outcome: { answered, refused, failed, cut } }) => answered + refused + failed + cut);
    return `${Math.round(100 * median(rounds.map(({ outcome }, index) => read(outcome) / (all[index] || 1))))} %`;
  };
  return [
    title,
    spread(column(aloneMs), 1),
    spread(column(duringMs), 1),
    spread(
      column((round) => duringMs(round) / aloneMs(round)),
      1,
    ),
    spread(column(({ perSecond }) => perSecond)),
    share(({ refused }) => refused),
    share(({ cut, failed }) => cut + failed),
  ];
}

/** Adds a session for each of the others, who work in workspaces of their own. */
async function addOthers(database: string): Promise<Other[]> {
  const others: Other[] = [];
  for (let index = 0; index < OTHERS; index += 1) {
    const token = createToken('lns_');
    const hash = createHash('sha256').update(token).digest();
    await query(
      database,
      `insert into sessions (user_id, token_hash, created_at, expires_at)
        values ($1, $2, now(), now() + interval '1 day')`,
      [2 + index, hash],
    );
    others.push({ token, workspaceId: 3 + index });
  }
  return others;
}

async function measure(
  url: string,
  call: Call,
  others: readonly Other[],
  connections: number,
  seconds: number,
): Promise<Round> {
  const alone = await readAsOthers(url, others, seconds);
  const attacking = attackWith(url, call, connections, LEAD_SECONDS + seconds);
  await sleep(LEAD_SECONDS * 1000);
  const during = await readAsOthers(url, others, seconds);
  const outcome = await attacking;
  await sleep(SETTLE_MS);
  const perSecond = outcome.answered / (LEAD_SECONDS + seconds);
  return { alone, during, perSecond, outcome };
}

/** Other work of this machine has precedence over reading the answers of the attack. */
async function attackWith(url: string, call: Call, connections: number, seconds: number): Promise<Outcome> {
  const args = [attackerPath, url, String(connections), String(seconds), JSON.stringify(call)];
  const { stdout } = await runFileOf('nice', ['-n', '5', process.execPath, ...args]);
  return JSON.parse(stdout);
}

/** Returns how long each call of the others took, in milliseconds. Throws if one fails. */
async function readAsOthers(url: string, others: readonly Other[], seconds: number): Promise<number[]> {
  const end = performance.now() + seconds * 1000;
  const took: number[] = [];
  await Promise.all(
    others.map(async ({ token, workspaceId }) => {
      const at = `/api/workspaces/${workspaceId}`;
      const paths = [`${at}/labels`, `${at}/library?limit=50`, `${at}/rooms?limit=50`, '/api/auth/me'];
      const connection = await openConnection(url);
      for (let n = 0; performance.now() < end; n += 1) {
        const path = paths[n % paths.length] ?? at;
        const sentAt = performance.now();
        const { status, body } = await connection.send({ method: 'GET', path, token });
        took.push(performance.now() - sentAt);
        if (status !== 200) throw new Error(`${path}: ${status} ${body.slice(0, 300)}`);
        await sleep(PAUSE_MS);
      }
      connection.close();
    }),
  );
  return took;
}
