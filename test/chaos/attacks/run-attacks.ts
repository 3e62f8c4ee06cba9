/**
 * Attacks a server with the default settings, one attack after the other, and prints how long the requests of other
 * people take before and during each. Attackers and other people have different addresses of this machine.
 */
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createHttp } from '../../support/http.ts';
import { startServer } from '../../support/server-process.ts';
import { makeTempDir } from '../../support/temp-dir.ts';
import { PASSWORD } from '../../support/world.ts';
import { type Attack, attacks, openStream, type Target } from './attacks.ts';

type Person = { token: string; workspaceId: number; roomNames: string[]; slug: string };

type Sample = { ms: number; status: number };

const ATTACKER = '127.0.0.2';
const OTHERS = '127.0.0.3';
const ATTACK_SECONDS = 10;
/** Each room may have a fifth of all streams. */
const ROOMS = 5;
const PEOPLE = 4;
/** Below the limit of calls per minute. */
const PAUSE_MS = 125;
/** Others may wait this long, or this many times as long as before the attack. */
const MAX_P99_MS = 150;
const MAX_P99_FACTOR = 5;
const MAX_RSS_MIB = 450;

/** Returns whether the server survived every attack and served everybody else. */
export async function runAttacks(): Promise<boolean> {
  await using cleanup = new AsyncDisposableStack();
  const dir = await makeTempDir();
  cleanup.defer(() => rm(dir, { recursive: true, force: true }));
  const server = startServer({
    DATA_DIR: join(dir, 'data'),
    NODE_ENV: 'test',
    RATE_LIMIT_EXEMPT_LOOPBACK: '0',
  });
  cleanup.defer(async () => void (await server.end('SIGTERM')));
  const url = await server.ready;
  const people = await Promise.all(Array.from({ length: PEOPLE + 1 }, (_, index) => addPerson(url, index)));
  const [attacker, ...others] = people as [Person, ...Person[]];
  process.stdout.write('| Attack | others: p99 before | during | failed | memory | |\n|---|---|---|---|---|---|\n');
  let succeeded = true;
  for (const attack of attacks) {
    const before = await measure(url, others, () => sleep(ATTACK_SECONDS * 1_000));
    const slug = others[0]?.slug ?? '';
    const target = { url, from: ATTACKER, seconds: ATTACK_SECONDS, ...attacker, slug };
    let opened = { person: false, guest: false };
    let found: string[] = [];
    const during = await measure(url, others, async () => {
      const attacking = runAttack(attack, target);
      await sleep(ATTACK_SECONDS * 900);
      opened = await openStreams(url, others[0]);
      found = await attacking;
    });
    const rss = await readRss(server.child.pid);
    const problems = [
      ...findProblems(before, during, rss),
      ...(opened.person ? [] : ['a signed-in person got no stream']),
      ...(opened.guest || attack.takesGuestStreams ? [] : ['a guest got no stream']),
      ...found,
      ...((await attack.findProblems?.(target)) ?? []),
    ];
    succeeded &&= problems.length === 0;
    const failed = during.filter(({ status }) => status !== 200).length;
    const cells = [attack.name, ms(p99(before)), ms(p99(during)), `${failed} of ${during.length}`, `${rss} MiB`];
    process.stdout.write(`| ${[...cells, problems.join('; ') || 'ok'].join(' | ')} |\n`);
    if (rss === 0) break;
  }
  return succeeded;
}

async function addPerson(url: string, index: number): Promise<Person> {
  const http = createHttp(url);
  const account = { name: 'Person', email: `person${index}@example.com`, password: PASSWORD };
  const { token } = (await http.post('/api/auth/register', undefined, account)).body;
  const { workspace } = (await http.post('/api/workspaces', token, { name: 'Team' })).body;
  const roomNames: string[] = [];
  for (let count = 0; count < ROOMS; count += 1) {
    const { room } = (await http.post('/api/dashboard/rooms', token, { workspace_id: workspace.id })).body;
    roomNames.push(room.name);
  }
  const hours = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((day) => ({
    day,
    from: '00:00',
    to: '24:00',
  }));
  const page = { title: `Page ${index}`, duration_minutes: 5, time_zone: 'UTC', hours };
  const { bookingPage } = (await http.post(`/api/workspaces/${workspace.id}/booking-pages`, token, page)).body;
  return { token, workspaceId: workspace.id, roomNames, slug: bookingPage.slug };
}

/** Returns what the attack itself has found wrong. */
async function runAttack({ name }: Attack, target: Target): Promise<string[]> {
  const worker = new Worker(new URL('./attacks.ts', import.meta.url), { workerData: { name, target } });
  // The thread may end before its message has been looked at.
  const [[problems]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
  return problems;
}

/** Returns whether a signed-in person, and a guest in their room, get a stream. */
async function openStreams(url: string, person: Person | undefined): Promise<{ person: boolean; guest: boolean }> {
  if (person === undefined) return { person: false, guest: false };
  const { token, workspaceId, roomNames } = person;
  const { body } = await createHttp(url).post(`/api/rooms/${roomNames[0]}/join`, undefined, { name: 'Guest' });
  const paths = [
    openStream(`${url}/api/workspaces/${workspaceId}/events/stream`, OTHERS, token),
    openStream(`${url}/api/rooms/${roomNames[0]}/presence/stream?token=${body.participant?.token}`, OTHERS),
  ];
  const [ofPerson, ofGuest] = await Promise.all(paths);
  for (const stream of [ofPerson, ofGuest]) stream?.destroy();
  return { person: ofPerson !== null, guest: ofGuest !== null };
}

/** Sends the requests of `people` while `work` runs. */
async function measure(url: string, people: readonly Person[], work: () => Promise<void>): Promise<Sample[]> {
  const agent = new Agent({ keepAlive: true, localAddress: OTHERS });
  const samples: Sample[] = [];
  let isOver = false;
  const requests = people.map(async ({ token, workspaceId }, index) => {
    await sleep((index * PAUSE_MS) / people.length);
    while (!isOver) {
      const startedAt = performance.now();
      const status = await get(agent, `${url}/api/workspaces/${workspaceId}/labels`, token);
      samples.push({ ms: performance.now() - startedAt, status });
      await sleep(PAUSE_MS);
    }
  });
  await work();
  isOver = true;
  await Promise.all(requests);
  agent.destroy();
  return samples;
}

/** Returns the status, or 0 if the connection broke. */
function get(agent: Agent, url: string, token: string): Promise<number> {
  return new Promise((resolve) => {
    const sent = request(url, { agent, headers: { authorization: `Bearer ${token}` } });
    sent.on('response', (response) => response.resume().on('end', () => resolve(response.statusCode ?? 0)));
    sent.on('error', () => resolve(0));
    sent.end();
  });
}

function p99(samples: readonly Sample[]): number {
  const sorted = samples.map((sample) => sample.ms).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.POSITIVE_INFINITY;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}

/** Returns the memory that the process occupies, in MiB; 0 if it has ended. */
async function readRss(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/VmRSS:\s*(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
}

function findProblems(before: readonly Sample[], during: readonly Sample[], rss: number): string[] {
  return [
    ...(rss === 0 ? ['the server has ended'] : []),
    ...(rss > MAX_RSS_MIB ? ['the server takes too much memory'] : []),
    ...(during.some(({ status }) => status !== 200) ? ['others were not served'] : []),
    ...(p99(during) > Math.max(MAX_P99_MS, MAX_P99_FACTOR * p99(before)) ? ['others waited too long'] : []),
  ];
}
