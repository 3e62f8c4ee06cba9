/**
 * Measures requests of our server against the limit, the naive server and the server with the same duties, in
 * interleaved rounds, and writes the tables into docs/performance.md.
 */
import { readOptions } from '../options.ts';
import { describeRun, writeSection } from '../report.ts';
import { peakMib } from '../upload-servers.ts';
import { openWorld, seedLimit, seedOurs, workspaces } from '../world.ts';
import { checkAnswers } from './check-answers.ts';
import { type Figures, measure, type Shot } from './measure.ts';
import { type Operation, operations } from './operations.ts';
import { countRoundTrips } from './round-trips.ts';
import { goalsTable, type Results, requestsTable, spreadTable } from './tables.ts';
import { startTargets, type Target, type TargetName, targetNames } from './targets.ts';

const WRITERS = 16;
/**
 * Before an operation is measured, each server answers this many calls, so that V8 has optimized its code, but for at
 * most this time. It is counted in calls, because a server that other work slows down would be measured before that.
 */
const WARM_UP_CALLS = 4_000;
const WARM_UP_SECONDS = 10;

export async function run(): Promise<void> {
  const options = readOptions();
  const rounds = Number(options.rounds ?? 3);
  const seconds = Number(options.seconds ?? 2);
  const connections = Number(options.connections ?? 16);
  const items = Number(options.items ?? 100_000);
  const names = pick(options.targets, targetNames);
  const operationNames = pick(options.ops, Object.keys(operations));
  const credential = options.credential === 'session' ? 'session' : 'key';

  await using cleanup = new AsyncDisposableStack();
  const world = await openWorld();
  cleanup.defer(() => world.close());
  console.log('Seeding …');
  const sizes = { items, labels: 200, contacts: 10_000, contactEvents: 1_000 };
  const databases = {
    limit: await world.createDatabase('bench_limit'),
    ours: await world.createDatabase('bench_ours'),
    folder: world.folder,
  };
  await seedLimit(databases.limit, sizes);
  const tokens = await seedOurs(databases.ours, sizes, credential);
  await world.settle();
  console.log('Starting the servers …');
  const targets = await startTargets(names, databases, cleanup);
  await checkAnswers(targets, tokens);

  const results: Results = { operations: new Map(), spread: new Map(), peakMib: new Map(), trips: new Map() };
  const shot: Shot = {
    databaseUrl: databases.ours,
    tokens,
    connections,
    seconds,
    workspaceOf: () => workspaces.write,
  };
  for (const name of operationNames) {
    const operation = operations[name];
    if (operation === undefined) throw new Error(`Unknown operation ${name}`);
    const able = [...targets].filter(([, { api }]) => operation.calls[api] !== undefined);
    for (const [, target] of able) await warmUp(operation, target, shot, Number(options.warmup ?? WARM_UP_SECONDS));
    const figures = new Map<TargetName, Figures[]>(able.map(([target]) => [target, []]));
    for (let round = 0; round < rounds; round += 1)
      for (const [target, running] of alternate(able, round))
        figures.get(target)?.push(await measure(operation, running, shot));
    results.operations.set(name, figures);
    console.log(`\n${requestsTable(new Map([[name, figures]]))}`);
  }
  if (operationNames.includes('room')) {
    const spread = { ...shot, connections: WRITERS };
    const able = [...targets].filter(([name]) => name === 'ours-rest' || name === 'duties');
    for (let round = 0; round < rounds; round += 1)
      for (const [name, target] of alternate(able, round)) {
        const one = await measureRooms(target, { ...spread, workspaceOf: () => workspaces.write });
        const many = await measureRooms(target, { ...spread, workspaceOf: (index) => workspaces.write + index });
        results.spread.set(name, [...(results.spread.get(name) ?? []), { one, many }]);
      }
  }
  for (const [name, { pid }] of targets) results.peakMib.set(name, peakMib(pid));
  for (const name of ['ours-rest', 'duties'] as const)
    if (targets.has(name)) results.trips.set(name, await countRoundTrips(name, databases, tokens, operationNames));

  const details =
    `${items.toLocaleString('en')} items and 200 labels in one workspace, ${connections} connections, ${rounds} ` +
    `interleaved rounds of ${seconds} s; median (range). Authentication by ${credential}.`;
  const text = [describeRun(details), goalsTable(results), requestsTable(results.operations), spreadTable(results)];
  const isWhole = options.ops === undefined && options.targets === undefined;
  await writeSection('performance.md', 'requests', text.join('\n\n'), isWhole && options.write !== '0');
}

/** The names of a comma-separated option, or all. */
function pick<Name extends string>(option: string | undefined, all: readonly Name[]): Name[] {
  return option === undefined ? [...all] : all.filter((name) => option.split(',').includes(name));
}

async function warmUp(operation: Operation, target: Target, shot: Shot, maxSeconds: number): Promise<void> {
  let calls = 0;
  for (let second = 0; second < maxSeconds && calls < WARM_UP_CALLS; second += 1)
    calls += (await measure(operation, target, { ...shot, seconds: Math.min(1, maxSeconds) })).perSecond;
}

/** The order of a round: forwards and backwards in turns. */
function alternate<Value>(values: readonly Value[], round: number): Value[] {
  return round % 2 === 0 ? [...values] : values.toReversed();
}

function measureRooms(target: Parameters<typeof measure>[1], shot: Shot): Promise<Figures> {
  const { room } = operations;
  if (room === undefined) throw new Error('No operation that creates rooms');
  return measure(room, target, shot);
}
