/**
 * Measures what metrics and traces cost a request of the server:
 *   npm run bench -- monitoring [seconds=4] [rounds=5] [compare=<another checkout>]
 * A tiny request without a statement, and the list of labels with two. Rounds are interleaved.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sendLoad } from './load.ts';
import { readOptions } from './options.ts';
import { describeRun, toTable } from './report.ts';
import { startOurs } from './requests/targets.ts';
import { cpuMs, freePort, residentMib, spread, startScript } from './upload-servers.ts';
import { openWorld } from './world.ts';

type Variant = { name: string; env: Record<string, string>; path?: string };
type Running = {
  name: string;
  pid: number;
  url: string;
  stop(): Promise<void>;
  token: string;
  workspaceId: number;
  costs: number[][];
};

const root = fileURLToPath(new URL('..', import.meta.url));
const CONNECTIONS = 16;
const WARM_UP_SECONDS = 2;

export async function run(): Promise<void> {
  const { seconds = '4', rounds = '5', compare } = readOptions();
  const world = await openWorld();
  const collector = createServer((request, response) => request.on('end', () => response.end('{}')).resume());
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const { port } = collector.address() as AddressInfo; // It listens on TCP.
  const traces = {
    NODE_OPTIONS: `--import ${join(root, 'ops/tracing.mjs')}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
  };
  const sampled = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' };
  const variants: Variant[] = [
    { name: 'neither', env: {} },
    { name: 'metrics', env: { METRICS_PORT: String(await freePort()) } },
    { name: 'traces of 1 % of requests', env: { ...traces, ...sampled } },
    { name: 'traces of all requests', env: traces },
  ];
  if (compare !== undefined) variants.unshift({ name: compare, env: {}, path: join(compare, 'src/server.ts') });
  const servers: Running[] = [];
  for (const [index, variant] of variants.entries()) {
    servers.push(
      await start(variant, await world.createDatabase(`monitoring_${index}`), join(world.folder, String(index))),
    );
  }
  for (const server of servers) await measure(server, WARM_UP_SECONDS);
  for (let round = 0; round < Number(rounds); round += 1)
    for (const server of round % 2 === 0 ? servers : servers.toReversed())
      server.costs.push(await measure(server, Number(seconds)));
  const rows = servers.map(({ name, costs, pid }) => [
    name,
    ...[0, 1].map((request) => spread(costs.map((cost) => cost[request] ?? Number.NaN))),
    residentMib(pid).toFixed(0),
  ]);
  const head = ['Server with', 'generate-name, µs CPU', 'labels, µs CPU', 'resident, MiB'];
  console.log(`\n${describeRun(`${rounds} rounds; median (range).`)}\n\n${toTable(head, rows)}`);
  await Promise.all(servers.map(({ stop }) => stop()));
  collector.close();
  await world.close();
}

async function start({ name, env, path }: Variant, databaseUrl: string, folder: string): Promise<Running> {
  const { pid, url, stop } = await (path === undefined
    ? startOurs(databaseUrl, folder, env)
    : startScript(path, {
        DATABASE_URL: databaseUrl,
        DATA_DIR: join(folder, 'files'),
        LOG_LEVEL: 'info',
        ...unlimited,
      }));
  // biome-ignore lint/suspicious/noExplicitAny: the answers have different shapes
  const post = async (to: string, json: object, token?: string): Promise<any> => {
    const headers = {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    return (await fetch(url + to, { method: 'POST', headers, body: JSON.stringify(json) })).json();
  };
  const account = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery staple' };
  const { token } = await post('/api/auth/register', account);
  const { workspace } = await post('/api/workspaces', { name: 'Team' }, token);
  for (const label of ['One', 'Two', 'Three'])
    await post(`/api/workspaces/${workspace.id}/labels`, { name: label }, token);
  return { name, pid, url, stop, token, workspaceId: workspace.id, costs: [] };
}

const unlimited = { DATABASE_POOL_SIZE: '16', RATE_LIMIT_SIGNED_IN: '100000000', RATE_LIMIT_PUBLIC: '100000000' };

/** Returns the CPU time of each kind of request in microseconds. */
async function measure({ pid, url, token, workspaceId }: Running, seconds: number): Promise<number[]> {
  const costs: number[] = [];
  for (const call of [
    { method: 'GET', path: '/api/dashboard/generate-name' },
    { method: 'GET', path: `/api/workspaces/${workspaceId}/labels`, token },
  ]) {
    const before = cpuMs(pid);
    const { done, failure } = await sendLoad(url, CONNECTIONS, seconds, () => call);
    if (failure !== null) throw new Error(failure);
    costs.push(((cpuMs(pid) - before) * 1000) / done);
  }
  return costs;
}
