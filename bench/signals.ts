/**
 * Measures the signalling of meetings:   node bench/signals.ts [signals=500] [rooms=200] [people=4] [seconds=60] First
 * two server processes with one database: one person on each, and the time from a call that sends a signal to its
 * arrival at the stream of the other process. Then one process with many rooms of scripted people, who open streams
 * with peers, send each other an offer, and then a signal and a heartbeat each every ten seconds. The memory is the
 * resident memory above that of the idle process, at the end and at most.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, type ClientRequest, get, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../packages/client/src/index.ts';
import { readOptions } from './options.ts';
import { startOurs } from './requests/targets.ts';
import { openWorld } from './world.ts';

const options = readOptions();
const signals = Number(options.signals ?? 500);
const rooms = Number(options.rooms ?? 200);
const people = Number(options.people ?? 4);
const seconds = Number(options.seconds ?? 60);

const PASSWORD = 'correct horse battery staple';
const OFFER = 'o'.repeat(4_000);
const CANDIDATE = 'c'.repeat(200);
const EVERY_MS = 10_000;
const ENCRYPTION_KEY = Buffer.alloc(32, 1).toString('base64');
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

type Page = {
  /** From which its requests come. */
  address: string;
  id: number;
  token: string;
  connectionId: string;
  peers: { id: number; connection_id: string | null }[];
  stream: ClientRequest;
};

await using cleanup = new AsyncDisposableStack();
const world = await openWorld();
cleanup.defer(() => world.close());
console.log(await measureDelay());
console.log(await measureMemory());
process.exit(0);

async function measureDelay(): Promise<string> {
  const database = await world.createDatabase('bench_signals');
  await using running = new AsyncDisposableStack();
  const urls: string[] = [];
  for (let count = 0; count < 2; count += 1) {
    const server = await startOurs(database, `${world.folder}/signals`, { ENCRYPTION_KEY });
    running.defer(server.stop);
    urls.push(server.url);
  }
  const [near = '', far = ''] = urls;
  const room = (await createRooms(near, 1))[0] ?? '';
  const arrivals = new Map<string, number>();
  const receiver = await enter(near, room, (data) => void arrivals.set(data, performance.now()));
  const sender = await enter(far, room, () => {});
  running.defer(async () => {
    for (const { stream } of [receiver, sender]) stream.destroy();
  });
  while (receiver.peers[0]?.connection_id !== sender.connectionId) await sleep(10);
  const delays: number[] = [];
  // The first calls load modules.
  for (let count = -50; count < signals; count += 1) {
    const data = `${count} ${CANDIDATE}`;
    const start = performance.now();
    await signal(far, room, sender, { id: receiver.id, connection_id: receiver.connectionId }, data);
    for (let end = arrivals.get(data); ; end = arrivals.get(data)) {
      if (end === undefined) await sleep(1);
      else {
        if (count >= 0) delays.push(end - start);
        break;
      }
    }
    // A page takes 512 signals of one sender in a minute.
    await sleep(150);
  }
  delays.sort((a, b) => a - b);
  const at = (part: number): string => `${(delays[Math.floor(delays.length * part)] ?? Number.NaN).toFixed(1)} ms`;
  return `signals through two processes: p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)} of ${delays.length}`;
}

async function measureMemory(): Promise<string> {
  const database = await world.createDatabase('bench_meetings');
  const server = await startOurs(database, `${world.folder}/meetings`, { ENCRYPTION_KEY });
  await using running = new AsyncDisposableStack();
  running.defer(server.stop);
  const { url, pid } = server;
  const names = await createRooms(url, rooms);
  // Loads the modules of meetings before the idle process is measured.
  const first = await enter(url, names[0] ?? '', () => {});
  await post(`${url}/api/rooms/${names[0]}/leave`, { token: first.token });
  await sleep(15_000);
  const idle = memoryKb(pid);
  let received = 0;
  const count = (): void => {
    received += 1;
  };
  const pages: { room: string; page: Page }[] = [];
  running.defer(async () => {
    for (const { page } of pages) page.stream.destroy();
  });
  for (const [index, room] of names.entries()) {
    // The people of each room have a network of their own, because the service limits what one network may use.
    const address = `127.1.${index >> 8}.${index & 255}`;
    const entered = await Promise.all(Array.from({ length: people }, () => enter(url, room, count, address)));
    pages.push(...entered.map((page) => ({ room, page })));
  }
  const connected = (): boolean =>
    pages.every(({ page }) => page.peers.filter(({ connection_id }) => connection_id).length === people - 1);
  while (!connected()) await sleep(100);
  const cpuBefore = cpuSeconds(pid);
  let max = memoryKb(pid);
  const startedAt = performance.now();
  const runs = pages.map(async ({ room, page }, index) => {
    await sleep((index / pages.length) * EVERY_MS);
    for (const peer of page.peers) await signal(url, room, page, peer, OFFER);
    while (performance.now() - startedAt < seconds * 1_000) {
      await sleep(EVERY_MS);
      const [peer] = page.peers;
      if (peer) await signal(url, room, page, peer, CANDIDATE);
      const own = { token: page.token, connection_id: page.connectionId };
      await post(`${url}/api/rooms/${room}/presence`, own, page.address);
      max = Math.max(max, memoryKb(pid));
    }
  });
  await Promise.all(runs);
  const cpu = ((cpuSeconds(pid) - cpuBefore) / ((performance.now() - startedAt) / 1_000)) * 100;
  await sleep(15_000);
  const end = memoryKb(pid);
  const above = (kb: number): string => `${((kb - idle) / 1024).toFixed(1)} MB`;
  return [
    `${rooms} rooms of ${people}: ${(idle / 1024).toFixed(1)} MB idle, ${above(end)} more at the end, ` +
      `${above(max)} at most`,
    `${cpu.toFixed(1)} % of a core, ${received} signals arrived`,
  ].join('; ');
}

async function createRooms(url: string, count: number): Promise<string[]> {
  const account = { name: 'Ada', email: 'ada@example.com', password: PASSWORD };
  const { token } = await createClient({ url }).auth.register.mutate(account);
  const client = createClient({ url, token });
  const names: string[] = [];
  for (let index = 0; index < count; index += 1) names.push((await client.rooms.create.mutate({})).room.name);
  return names;
}

/** Joins as a guest and opens a page. Resolves with the first list of peers. */
async function enter(
  url: string,
  room: string,
  onSignal: (data: string) => void,
  address = '127.0.0.1',
): Promise<Page> {
  const { participant } = await post(`${url}/api/rooms/${room}/join`, { name: 'Guest' }, address);
  const connectionId = randomUUID();
  const query = `token=${participant.token}&peers=1&connection_id=${connectionId}`;
  const listed = Promise.withResolvers<void>();
  const options = { agent, localAddress: address };
  const stream = get(`${url}/api/rooms/${room}/presence/stream?${query}`, options, (response) => {
    if (response.statusCode !== 200) throw new Error(`The stream was answered with ${response.statusCode}`);
    let rest = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, json] = /^data: (.*)$/m.exec(block) ?? [];
        if (json === undefined) continue;
        const { event, data } = JSON.parse(json);
        if (event === 'signal') onSignal(data.data);
        if (event !== 'peers') continue;
        page.peers = data.peers;
        listed.resolve();
      }
    });
  }).on('error', () => {});
  const page: Page = { address, id: participant.id, token: participant.token, connectionId, peers: [], stream };
  await listed.promise;
  return page;
}

async function signal(url: string, room: string, from: Page, to: Page['peers'][number], data: string): Promise<void> {
  const sender = { token: from.token, connection_id: from.connectionId };
  const sent = { ...sender, to: to.id, to_connection_id: to.connection_id, data };
  await post(`${url}/api/rooms/${room}/signals`, sent, from.address);
}

// biome-ignore lint/suspicious/noExplicitAny: the caller knows the response
function post(url: string, body: object, localAddress = '127.0.0.1'): Promise<any> {
  const text = JSON.stringify(body);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    request(url, { method: 'POST', agent, headers, localAddress }, (response) => {
      let received = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        received += chunk;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(received));
        else reject(new Error(`${response.statusCode}: ${received}`));
      });
    })
      .on('error', reject)
      .end(text);
  });
}

/** The resident memory of a process. */
function memoryKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

/** The time that a process has used, in seconds. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const TICKS_PER_SECOND = 100;
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
