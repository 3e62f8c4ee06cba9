/**
 * Measures how requests a second grow with the number of servers on one PostgreSQL, directly and through pgbouncer in
 * transaction mode, where it is installed:
 *   npm run bench -- processes [servers=1,2,3] [share=0.3] [seconds=3] [rounds=3] [connections=16]
 * The servers run on CPU 0, each limited to a share of it, like servers on machines of their own that are that slow.
 * PostgreSQL, pgbouncer and the client share CPU 1.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { requestSettings } from '../src/db/client.ts';
import { pgbouncerPath, startPgbouncer } from '../test/support/pgbouncer.ts';
import { openCpuShares } from './cpu-share.ts';
import { sendLoad } from './load.ts';
import { readOptions } from './options.ts';
import { describeRun, toTable, writeSection } from './report.ts';
import { nextNumber } from './requests/measure.ts';
import { operations, type Tokens } from './requests/operations.ts';
import { startOurs } from './requests/targets.ts';
import { cpuMs, spread } from './upload-servers.ts';
import { openWorld, query, seedOurs, workspaces } from './world.ts';

type Server = Awaited<ReturnType<typeof startOurs>>;
type Figures = { perSecond: number; serverUs: number; postgresUs: number; postgresShare: number };

const WARM_UP_SECONDS = 2;
const WORKSPACES_TO_WRITE = 16;
const POOLER_CONNECTIONS = '20';
const kinds = { reads: ['labels', 'list', 'retention'], writes: ['room', 'label'] } as const;

export async function run(): Promise<void> {
  const options = readOptions();
  const counts = (options.servers ?? '1,2,3').split(',').map(Number);
  const share = Number(options.share ?? 0.3);
  const seconds = Number(options.seconds ?? 3);
  const rounds = Number(options.rounds ?? 3);
  const connections = Number(options.connections ?? 16);
  await using cleanup = new AsyncDisposableStack();
  const world = await openWorld();
  cleanup.defer(() => world.close());
  const database = await world.createDatabase('bench_processes');
  const sizes = { items: Number(options.items ?? 20_000), labels: 200, contacts: 1_000, contactEvents: 1_000 };
  const tokens = await seedOurs(database, sizes, 'key');
  await world.settle();
  const shares = openCpuShares(share);
  cleanup.defer(() => shares?.close());
  const ways: [name: string, env: Record<string, string>][] = [['direct', {}]];
  if (pgbouncerPath !== undefined) {
    await setSessionSettings(database);
    const settings = { pool_mode: 'transaction', default_pool_size: POOLER_CONNECTIONS, max_client_conn: '500' };
    const pooler = await startPgbouncer(database, settings);
    cleanup.defer(pooler.stop);
    const url = pooler.urlOf(database);
    ways.push(['pgbouncer', { DATABASE_URL: url, DATABASE_POOLING: 'transaction', DATABASE_DIRECT_URL: database }]);
  }

  const cells: string[][] = [];
  for (const [way, env] of ways)
    for (const count of counts) {
      await using running = new AsyncDisposableStack();
      running.defer(() => shares?.close());
      const servers: Server[] = [];
      for (let index = 0; index < count; index += 1) {
        const server = await startOurs(database, world.folder, env);
        running.defer(server.stop);
        servers.push(server);
      }
      const load = (kind: keyof typeof kinds, time: number) =>
        measure(kind, servers, tokens, { connections, seconds: time }, world.postgresPid);
      for (const kind of ['reads', 'writes'] as const) await load(kind, WARM_UP_SECONDS * count);
      // Limited servers would take a long time to start and to warm up.
      for (const { pid } of servers) shares?.limit(pid);
      for (const kind of ['reads', 'writes'] as const) {
        const figures: Figures[] = [];
        for (let round = 0; round < rounds; round += 1) figures.push(await load(kind, seconds));
        const column = (key: keyof Figures): number[] => figures.map((values) => values[key]);
        const [rate, server, postgres] = [
          spread(column('perSecond')),
          spread(column('serverUs')),
          column('postgresUs'),
        ];
        cells.push([kind, way, String(count), rate, server, spread(postgres), spread(column('postgresShare'), 2)]);
        console.log(cells.at(-1)?.join(' | '));
      }
    }
  cells.sort(([one = ''], [other = '']) => (one < other ? -1 : one > other ? 1 : 0));
  const limits = shares ? `Each server has ${share} of a CPU.` : 'All servers share one CPU.';
  const load = `${connections} connections a server; median (range) of ${rounds} rounds of ${seconds} s. ${limits}`;
  const cpuHead = ['server CPU, µs', 'PostgreSQL CPU, µs', 'CPUs of PostgreSQL'];
  const table = toTable(['Load', 'Connection', 'Servers', 'requests/s', ...cpuHead], cells);
  await writeSection('scaling.md', 'processes', `${describeRun(load)}\n\n${table}`, options.write !== '0');
}

/** The service cannot set these through a pooler in transaction mode. */
async function setSessionSettings(database: string): Promise<void> {
  const { username, pathname } = new URL(database);
  for (const [name, value] of Object.entries(requestSettings))
    await query(database, `alter role ${username} in database ${pathname.slice(1)} set ${name} = '${value}'`);
}

/** Sends a mix of operations to all servers at once. */
async function measure(
  kind: keyof typeof kinds,
  servers: readonly Server[],
  tokens: Tokens,
  { connections, seconds }: { connections: number; seconds: number },
  postgresPid: number,
): Promise<Figures> {
  const mix = kinds[kind].flatMap((name) => operations[name] ?? []);
  const serverMs = () => servers.reduce((sum, { pid }) => sum + cpuMs(pid), 0);
  const before = { servers: serverMs(), postgres: postgresMs(postgresPid) };
  let sent = 0;
  const loads = await Promise.all(
    servers.map(({ url }) =>
      sendLoad(url, connections, seconds, (connection) => {
        sent += 1;
        const operation = mix[sent % mix.length];
        const workspaceId = workspaces.write + (connection % WORKSPACES_TO_WRITE);
        return operation?.calls.rest?.(nextNumber(operation), tokens, workspaceId) ?? null;
      }),
    ),
  );
  const failure = loads.find((load) => load.failure !== null)?.failure;
  if (failure) throw new Error(failure);
  const done = loads.reduce((sum, load) => sum + load.done, 0);
  const postgres = postgresMs(postgresPid) - before.postgres;
  const took = Math.max(...loads.map((load) => load.seconds));
  return {
    perSecond: done / took,
    serverUs: ((serverMs() - before.servers) * 1000) / done,
    postgresUs: (postgres * 1000) / done,
    postgresShare: postgres / 1000 / took,
  };
}

const CLOCK_TICK_MS = 10;

/** The CPU time of PostgreSQL: of its main process, of the children that run, and of those that have ended. */
function postgresMs(mainPid: number): number {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number);
      const isMain = Number(pid) === mainPid;
      if (isMain || Number(fields[1]) === mainPid) ticks += (user ?? 0) + (system ?? 0);
      if (isMain) ticks += (endedUser ?? 0) + (endedSystem ?? 0);
    } catch {
      // The process has ended meanwhile.
    }
  }
  return ticks * CLOCK_TICK_MS;
}
