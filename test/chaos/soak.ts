/**
 * `npm run soak [-- minutes=60]`: an hour of ordinary use, which deletes what it adds. Prints the server's memory, file
 * descriptors and latency by minute, and how fast they grow. It fails if a request fails, or if memory grows by more
 * than 20 MiB an hour after the first quarter. Linux only.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttp, type Http } from '../support/http.ts';
import { makePdf } from '../support/media.ts';
import { startReceiver } from '../support/receiver.ts';
import { startServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { PASSWORD } from '../support/world.ts';

const USERS = 4;
const PAUSE_MS = 25;
const MINUTE_MS = 60_000;
const MAX_GROWTH_MIB_PER_HOUR = 20;
/** How many characters of the server's log a failure shows. */
const MAX_LOGGED = 10_000;

type Minute = { rssMiB: number; descriptors: number; requests: number; p50Ms: number; p99Ms: number };

type User = { token: string; path: string; workspaceId: number; email: string };

const options = new Map(
  process.argv.slice(2).map((argument) => argument.split('=', 2) as [string, string | undefined]),
);
const minutes = Number(options.get('minutes') ?? 60);

await using cleanup = new AsyncDisposableStack();
const receiver = await startReceiver();
cleanup.defer(receiver.close);
const dir = await makeTempDir();
cleanup.defer(() => rm(dir, { recursive: true, force: true }));
const server = startServer({ DATA_DIR: join(dir, 'data'), LOG_LEVEL: 'warn', NODE_ENV: 'test' });
cleanup.defer(async () => void (await server.end('SIGTERM')));
const url = await server.ready;

let durations: number[] = [];
const http = timed(createHttp(url));
const stopping = new AbortController();
const users = await Promise.all(Array.from({ length: USERS }, (_, index) => addUser(index)));
const running = users.map(useService);
const history: Minute[] = [];
for (let minute = 0; minute < minutes; minute += 1) {
  await Promise.race([sleep(MINUTE_MS), ...running]);
  history.push(takeMinute());
  // The receiver remembers every request.
  receiver.requests.length = 0;
}
stopping.abort();
await Promise.all(running);
process.exitCode = report(history) ? 0 : 1;

/** Records how long each call takes, and throws for every answer that is not a success. */
function timed(inner: Http): Http {
  const call: Http['call'] = async (method, path, callOptions) => {
    const startedAt = performance.now();
    const answer = await inner.call(method, path, callOptions);
    durations.push(performance.now() - startedAt);
    if (answer.status >= 400) {
      const log = server.output().slice(-MAX_LOGGED);
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}\n${log}`);
    }
    return answer;
  };
  return {
    call,
    get: (path, token) => call('GET', path, { token }),
    getJson: (path, token) => call('GET', path, { token, headers: { accept: 'application/json' } }),
    post: (path, token, json) => call('POST', path, { token, json }),
    patch: (path, token, json) => call('PATCH', path, { token, json }),
    delete: (path, token) => call('DELETE', path, { token }),
  };
}

async function addUser(index: number): Promise<User> {
  const email = `soak${index}@example.com`;
  const account = await http.post('/api/auth/register', undefined, { name: 'Soak', email, password: PASSWORD });
  const { token } = account.body;
  const { body } = await http.post('/api/workspaces', token, { name: 'Soak' });
  const path = `/api/workspaces/${body.workspace.id}`;
  const events = ['room.created', 'room.joined', 'room.left', 'library_item.uploaded', 'library_item.deleted'];
  await http.post(`${path}/webhooks`, token, { name: 'Soak', url: `${receiver.url}/${index}`, events });
  return { token, path, workspaceId: body.workspace.id, email };
}

async function useService(user: User): Promise<void> {
  for (let round = 0; !stopping.signal.aborted; round += 1) {
    await meet(user);
    await sleep(PAUSE_MS);
    await storeFile(user, round);
    await sleep(PAUSE_MS);
    if (round % 20 === 0) await signInAndOut(user);
  }
}

async function meet({ token, workspaceId }: User): Promise<void> {
  const { body } = await http.post('/api/dashboard/rooms', token, { workspace_id: workspaceId });
  const { name } = body.room;
  const guest = await http.post(`/api/rooms/${name}/join`, undefined, { name: 'Guest' });
  await http.get(`/api/dashboard/rooms/${name}/participants`, token);
  await http.post(`/api/rooms/${name}/leave`, undefined, { token: guest.body.participant.token });
  await http.delete(`/api/dashboard/rooms/${name}`, token);
}

async function storeFile({ token, path }: User, round: number): Promise<void> {
  const form = new FormData();
  const bytes = Uint8Array.from(makePdf({ text: `round ${round}` }));
  form.append('file', new Blob([bytes], { type: 'application/pdf' }), `round-${round}.pdf`);
  const { body } = await http.call('POST', `${path}/library`, { token, body: form });
  await http.get(`${path}/library?search=round`, token);
  const link = await http.get(`${path}/library/${body.item.id}/download`, token);
  await (await fetch(link.body.url)).arrayBuffer();
  await http.get(`${path}/analytics`, token);
  await http.delete(`${path}/library/${body.item.id}`, token);
}

async function signInAndOut({ email }: User): Promise<void> {
  const { body } = await http.post('/api/auth/login', undefined, { email, password: PASSWORD });
  await http.get('/api/auth/me', body.token);
  await http.post('/api/auth/logout', body.token);
}

function takeMinute(): Minute {
  const { pid } = server.child;
  const rssKiB = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  const sorted = durations.sort((a, b) => a - b);
  const minute = {
    rssMiB: rssKiB / 1_024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    requests: sorted.length,
    p50Ms: sorted[Math.floor(sorted.length * 0.5)] ?? 0,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
  };
  durations = [];
  const latency = `p50 ${minute.p50Ms.toFixed(1)} ms, p99 ${minute.p99Ms.toFixed(0)} ms`;
  const memory = `${minute.rssMiB.toFixed(0)} MiB, ${minute.descriptors} descriptors`;
  process.stdout.write(`minute ${history.length + 1}: ${minute.requests} requests, ${latency}, ${memory}\n`);
  return minute;
}

/** Growth per hour, by least squares over the minutes after the first quarter. */
function growthPerHour(read: (minute: Minute) => number): number {
  const values = history.slice(Math.floor(history.length / 4)).map(read);
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const covariance = values.reduce((sum, value, index) => sum + (index - middle) * (value - mean), 0);
  const variance = values.reduce((sum, _, index) => sum + (index - middle) ** 2, 0);
  return (60 * covariance) / variance;
}

function report(all: readonly Minute[]): boolean {
  const requests = all.reduce((sum, minute) => sum + minute.requests, 0);
  const memory = growthPerHour(({ rssMiB }) => rssMiB);
  const lines = [
    `${requests} requests in ${all.length} minutes, none failed`,
    `memory: ${memory.toFixed(1)} MiB per hour`,
    `file descriptors: ${growthPerHour(({ descriptors }) => descriptors).toFixed(1)} per hour`,
    `median latency: ${growthPerHour(({ p50Ms }) => p50Ms).toFixed(2)} ms per hour`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return memory <= MAX_GROWTH_MIB_PER_HOUR;
}
