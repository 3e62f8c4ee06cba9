/**
 * Measures the live updates of one server process:
 *   node bench/live-updates.ts [listeners=100,1000,5000] [perSecond=50] [seconds=20]
 * For each number of listeners it opens the streams, waits until the process is idle, and creates rooms. The delay is
 * the time from the answer of the write, which follows its commit, to the arrival at a listener. With more than 100
 * listeners only one event a second is sent: this process reads all streams on the same machine.
 */
import { readFileSync } from 'node:fs';
import { Agent, type ClientRequest, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../packages/client/src/index.ts';
import { readOptions } from './options.ts';
import { startOurs } from './requests/targets.ts';
import { openWorld } from './world.ts';

const options = readOptions();
const counts = (options.listeners ?? '100,1000,5000').split(',').map(Number);
const perSecond = Number(options.perSecond ?? 50);
const seconds = Number(options.seconds ?? 20);

const MANY = 100;
const PASSWORD = 'correct horse battery staple';
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

await using cleanup = new AsyncDisposableStack();
const world = await openWorld();
cleanup.defer(() => world.close());
for (const count of counts) console.log(await measure(count));
process.exit(0);

async function measure(count: number): Promise<string> {
  const database = await world.createDatabase(`bench_live_${count}`);
  const limits = { LIVE_STREAMS_PER_USER: '10000', LIVE_STREAMS: '10000' };
  const server = await startOurs(database, `${world.folder}/${count}`, limits);
  await using running = new AsyncDisposableStack();
  running.defer(server.stop);
  const { url, pid } = server;
  const { token, workspaceId } = await register(url);
  const client = createClient({ url, token });
  // The first calls load modules.
  for (let call = 0; call < 50; call += 1) await client.rooms.create.mutate({ workspace_id: workspaceId });
  // Until the memory of the start is given back.
  await sleep(15_000);
  const memoryBefore = memoryKb(pid);
  const arrivals = new Map<string, number[]>();
  let opened = 0;
  const streams: ClientRequest[] = [];
  running.defer(async () => {
    for (const stream of streams) stream.destroy();
  });
  for (let index = 0; index < count; index += 1) {
    const onRoom = (name: string): void => void arrivals.get(name)?.push(performance.now());
    streams.push(listen(url, token, workspaceId, { onOpen: () => (opened += 1), onRoom }));
    if (index % 50 === 49) await sleep(50);
  }
  while (opened < count) await sleep(100);
  await sleep(5_000);
  const memoryAfter = memoryKb(pid);

  const rate = count > MANY ? 1 : perSecond;
  const answered = new Map<string, number>();
  const start = performance.now();
  const calls: Promise<void>[] = [];
  for (let event = 0; event < rate * seconds; event += 1) {
    await sleep(Math.max(0, start + (event * 1_000) / rate - performance.now()));
    const name = `room-${count}-${event}`;
    arrivals.set(name, []);
    const call = client.rooms.create.mutate({ workspace_id: workspaceId, name });
    calls.push(call.then(() => void answered.set(name, performance.now())));
  }
  await Promise.all(calls);
  await sleep(5_000);
  const delays: number[] = [];
  let received = 0;
  for (const [name, times] of arrivals) {
    received += times.length;
    for (const time of times) delays.push(time - (answered.get(name) ?? time));
  }
  delays.sort((a, b) => a - b);
  const at = (part: number): string => `${Math.round(delays[Math.floor(delays.length * part)] ?? Number.NaN)} ms`;
  const perListener = ((memoryAfter - memoryBefore) / count).toFixed(1);
  return [
    `${count} listeners, ${rate} events/s: delay p50 ${at(0.5)}, p99 ${at(0.99)}`,
    `${received} of ${arrivals.size * count} arrived`,
    `${Math.round(memoryBefore / 1024)} MB resident before, ${perListener} kB for each listener`,
  ].join('; ');
}

async function register(url: string): Promise<{ token: string; workspaceId: number }> {
  const account = { name: 'Ada', email: 'ada@example.com', password: PASSWORD };
  const { token } = await createClient({ url }).auth.register.mutate(account);
  const { workspaces } = await createClient({ url, token }).workspaces.list.query();
  return { token, workspaceId: workspaces[0]?.id ?? 0 };
}

function listen(
  url: string,
  token: string,
  workspaceId: number,
  { onOpen, onRoom }: { onOpen: () => void; onRoom: (name: string) => void },
): ClientRequest {
  const path = `${url}/api/workspaces/${workspaceId}/events/stream`;
  return get(path, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
    if (response.statusCode !== 200) throw new Error(`The stream was answered with ${response.statusCode}`);
    let rest = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        if (block.includes('event: stream.opened')) onOpen();
        const [, name] = /"room_name":"([^"]+)"/.exec(block) ?? [];
        if (name) onRoom(name);
      }
    });
  }).on('error', () => {});
}

/** The resident memory of a process. */
function memoryKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
