/**
 * Measures how long the most expensive requests keep the event loop busy without a pause, in the server's own process.
 * Other requests wait for that long. The database is filled up to the quotas.
 *   node bench/event-loop.ts [runs=5] [only=times]
 * Prints, for each request: its size, its time, the longest time between two turns of the event loop, and the longest
 * CPU time of a turn, in milliseconds. On a busy machine only the CPU time is meaningful.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { readConfig } from '../src/runtime/config.ts';
import { startServer } from '../src/runtime/start.ts';
import { readOptions } from './options.ts';

const { runs: runsText = '5', only = '' } = readOptions();
const runs = Number(runsText);
const folder = await mkdtemp(join(tmpdir(), 'event-loop-'));
const config = readConfig({ PORT: '0', DATA_DIR: folder, RATE_LIMIT_SIGNED_IN: '0' });
const silent = (): void => {};
const log = Object.fromEntries(
  ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((name) => [name, silent]),
);
// The logger of Fastify: levels, and children that are the same.
const logger = Object.assign(log, { level: 'silent', child: () => logger }) as unknown as Parameters<
  typeof startServer
>[1];
const server = await startServer(config, logger);
try {
  const { token, id, userId } = await createAccount();
  await fill(id, userId);
  await addPages(id, userId);
  const at = `/api/workspaces/${id}`;
  const batch = (name: string, input: object): string => {
    const inputs = JSON.stringify(Object.fromEntries(Array.from({ length: 50 }, (_, index) => [index, input])));
    return `/trpc/${new Array(50).fill(name).join(',')}?batch=1&input=${encodeURIComponent(inputs)}`;
  };
  const start = Math.ceil(Date.now() / 86_400_000) * 86_400;
  const range = { from: start, to: start + 62 * 86_400 };
  const requests: Record<string, string> = {
    'rooms, 10,000 with 1,000 characters': `${at}/rooms`,
    'own rooms': '/api/dashboard/rooms',
    'labels, 1,000': `${at}/labels`,
    'items, 100': `${at}/library?limit=100`,
    'contacts, 100': `${at}/contacts?limit=100`,
    'contacts.csv, 200,000': `${at}/contacts.csv`,
    'batch of 50 label lists': batch('labels.list', { id }),
    'batch of 50 room lists': batch('rooms.listInWorkspace', { id }),
    'batch of 50 contact lists': batch('contacts.list', { id, limit: 100 }),
    'times, 62 days of 5 minutes': `/api/book/free?from=${range.from}&to=${range.to}`,
    'batch of 50 times': batch('bookings.times', { slug: 'free', ...range }),
    'batch of 50 times, host with 6,200 bookings': batch('bookings.times', { slug: 'busy', ...range }),
  };
  console.log('request | MB | ms | longest delay ms | longest CPU ms');
  for (const [name, path] of Object.entries(requests)) {
    if (!name.includes(only)) continue;
    await get(path, token);
    const results = [];
    for (let run = 0; run < runs; run += 1) results.push(await measure(() => get(path, token)));
    const median = results.sort((a, b) => a.cpu - b.cpu)[Math.floor(runs / 2)];
    if (!median) continue;
    const { bytes, ms, delay, cpu } = median;
    console.log([name, (bytes / 1e6).toFixed(1), ms.toFixed(0), delay.toFixed(0), cpu.toFixed(0)].join(' | '));
  }
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit();

/** Runs a request, and returns the longest time between two turns of the event loop, and the longest CPU time. */
async function measure(
  send: () => Promise<number>,
): Promise<{ bytes: number; ms: number; delay: number; cpu: number }> {
  let [delay, cpu, isOver] = [0, 0, false];
  let [last, lastCpu] = [performance.now(), cpuMs()];
  const turn = (): void => {
    const [now, nowCpu] = [performance.now(), cpuMs()];
    delay = Math.max(delay, now - last);
    cpu = Math.max(cpu, nowCpu - lastCpu);
    [last, lastCpu] = [now, nowCpu];
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const startedAt = performance.now();
  const bytes = await send();
  isOver = true;
  return { bytes, ms: performance.now() - startedAt, delay, cpu };
}

/** The CPU time of this thread so far. Other threads, such as those of libuv, do not delay requests. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Receives a response without parsing it, and returns its size. */
function get(path: string, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(server.url + path, { headers: { authorization: `Bearer ${token}` } }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => resolve(bytes));
    })
      .on('error', reject)
      .end();
  });
}

async function createAccount(): Promise<{ token: string; id: number; userId: number }> {
  const email = `bench-${process.hrtime.bigint()}@example.com`;
  const answer = await fetch(`${server.url}/api/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Bench', email, password: 'a long password' }),
  });
  const { token, user } = (await answer.json()) as { token: string; user: { id: number } };
  const listed = await fetch(`${server.url}/api/workspaces`, { headers: { authorization: `Bearer ${token}` } });
  const { workspaces } = (await listed.json()) as { workspaces: { id: number }[] };
  return { token, id: workspaces[0]?.id ?? 0, userId: user.id };
}

async function fill(id: number, userId: number): Promise<void> {
  const { db } = server.services;
  await db.$executeRaw`
    insert into rooms (workspace_id, name, user_id, accent_color, waiting_room_message, created_at, last_used_at)
    select ${id}, 'bench-' || ${id} || '-' || n, ${userId}, '#123456', repeat('m', 1000), now(), now()
    from generate_series(1, 10000) n`;
  await db.$executeRaw`
    insert into labels (workspace_id, name, color, created_by, created_at)
    select ${id}, repeat('l', 50) || n, '#123456', ${userId}, now() from generate_series(1, 1000) n`;
  await db.$executeRaw`
    insert into library_items (workspace_id, uploaded_by, name, description, file_key, mime_type, size, sha256,
      created_at, updated_at)
    select ${id}, ${userId}, 'Item ' || n, repeat('d', 5000), 'bench/' || n, 'application/pdf', 1, sha256('x'),
      now(), now()
    from generate_series(1, 1000) n`;
  for (let part = 0; part < 20; part += 1)
    await db.$executeRaw`
      insert into contacts (workspace_id, name, email, created_at)
      select ${id}, repeat('n', 90) || n, 'p' || n || '@example.com', now()
      from generate_series(${part * 10_000 + 1}::int, ${(part + 1) * 10_000}::int) n`;
}

/** Adds a page `free` that is always open, and a page `busy` of another host, who has 100 bookings a day. */
async function addPages(id: number, userId: number): Promise<void> {
  const { db } = server.services;
  const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
  const at = new Date();
  const page = { title: 'Bench', duration: 5, timeZone: 'Europe/Berlin', createdAt: at, updatedAt: at };
  const hours = days.map((day) => ({ day, from: '00:00', to: '24:00' }));
  await db.bookingPage.create({ data: { ...page, hours, workspaceId: id, userId, slug: 'free' } });
  const host = await createAccount();
  const busy = await db.bookingPage.create({
    data: { ...page, hours, workspaceId: host.id, userId: host.userId, slug: 'busy' },
  });
  await db.$executeRaw`
    insert into bookings (workspace_id, booking_page_id, user_id, name, email, mailbox, token_hash, starts_at, ends_at,
      created_at)
    select ${host.id}, ${busy.id}, ${host.userId}, 'Guest', 'g@example.com', 'g@example.com', sha256(n::text::bytea), t,
      t + interval '5 minutes', now()
    from (select n, date_trunc('day', now()) + n * interval '14.4 minutes' as t from generate_series(1, 6400) n) b`;
}
