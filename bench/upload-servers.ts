/** Starts the servers that the upload benchmark measures, sends uploads, and reads a process's costs from /proc. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../src/db/embedded.ts';
import { serverLimits } from './server-limits.ts';
import { query } from './world.ts';

export type Server = {
  pid: number;
  /** The URL of the library: a multipart upload is sent to it. */
  uploadUrl: string;
  headers: Record<string, string>;
  databaseUrl: string | null;
  /** Whether the files can be downloaded. */
  isStored: boolean;
  stop(): Promise<void>;
};

function scriptPath(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** Returns a port that is free now. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === 'string') throw new Error('No port');
  return address.port;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

/** Runs a script on a CPU of its own, so that it does not compete with its client, and waits until it listens. */
export async function startScript(path: string, env: Record<string, string>, cpu = '0') {
  const port = await freePort();
  const child: ChildProcess = spawn('taskset', ['-c', cpu, process.execPath, path], {
    env: { ...process.env, ...serverLimits, NODE_ENV: 'production', LOG_LEVEL: 'error', PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  while (!(await isListening(port))) {
    if (child.exitCode !== null || child.pid === undefined) throw new Error(`${path} did not start`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
    process.off('exit', kill);
  };
  return { pid: child.pid ?? 0, url: `http://127.0.0.1:${port}`, stop };
}

export type World = {
  /** A directory on the disk that the servers write to. */
  folder: string;
  /** The environment of a server called `name` that stores files on the `disk`, in the sink `s3`, or in `real-s3`. */
  storage(way: string, name: string): Record<string, string>;
  startPlain(env?: Record<string, string>): Promise<Server>;
  /** Starts the real service, with a database of its own. */
  startLynxroom(name: string, env?: Record<string, string>): Promise<Server>;
  close(): Promise<void>;
};

async function createAccount(url: string): Promise<{ path: string; token: string }> {
  const ask = async (path: string, token?: string, json?: object) => {
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(json && { 'content-type': 'application/json' }),
    };
    const answer = await fetch(url + path, {
      method: json ? 'POST' : 'GET',
      headers,
      body: JSON.stringify(json) ?? null,
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { token: string; workspaces: { id: number }[] };
  };
  const email = `bench-${process.hrtime.bigint()}@example.com`;
  const { token } = await ask('/api/auth/register', undefined, { name: 'Bench', email, password: 'a long password' });
  const { workspaces } = await ask('/api/workspaces', token);
  return { path: `/api/workspaces/${workspaces[0]?.id}/library`, token };
}

/**
 * Starts one PostgreSQL and one S3 sink for all servers. UPLOAD_DIR is a directory on the disk to measure; by default
 * it is the temporary directory.
 */
export async function openWorld(): Promise<World> {
  const folder = await mkdtemp(join(process.env.UPLOAD_DIR ?? tmpdir(), 'lynxroom-bench-'));
  // If root runs this, PostgreSQL runs as another account, which must be able to enter.
  await chmod(folder, 0o755);
  const log = { debug() {}, info() {}, warn() {}, error: console.error };
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log });
  const createDatabase = async (name: string): Promise<string> => {
    const owner = new URL(postgres.url).username;
    await query(postgres.superuserUrl, `create database "${name}" owner ${owner}`);
    return Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href;
  };
  const sink = await startScript(scriptPath('upload-s3-sink.ts'), {}, '1');
  const servers: Server[] = [];
  const track = (server: Server): Server => {
    servers.push(server);
    return server;
  };
  return {
    folder,
    storage(way, name) {
      if (way === 'disk') return {};
      // The prefix is new in each run, because a store belongs to one database.
      const bucket = { S3_BUCKET: 'bench', S3_PREFIX: `bench/${randomUUID()}/${name}/` };
      if (way === 's3')
        return { ...bucket, S3_ENDPOINT: sink.url, S3_ACCESS_KEY_ID: 'key', S3_SECRET_ACCESS_KEY: 'secret' };
      if (way !== 'real-s3') throw new Error(`ways: ${way} must be disk, s3 or real-s3`);
      const { S3_TEST_ENDPOINT, S3_TEST_ACCESS_KEY_ID, S3_TEST_SECRET_ACCESS_KEY, S3_TEST_BUCKET } = process.env;
      if (!S3_TEST_ENDPOINT || !S3_TEST_ACCESS_KEY_ID || !S3_TEST_SECRET_ACCESS_KEY)
        throw new Error('real-s3 needs S3_TEST_ENDPOINT, S3_TEST_ACCESS_KEY_ID and S3_TEST_SECRET_ACCESS_KEY');
      return {
        ...bucket,
        S3_BUCKET: S3_TEST_BUCKET ?? 'test-bucket',
        S3_ENDPOINT: S3_TEST_ENDPOINT,
        S3_ACCESS_KEY_ID: S3_TEST_ACCESS_KEY_ID,
        S3_SECRET_ACCESS_KEY: S3_TEST_SECRET_ACCESS_KEY,
      };
    },
    async startPlain(env = {}) {
      const server = await startScript(scriptPath('upload-plain-server.ts'), { FOLDER: folder, ...env });
      return track({ ...server, uploadUrl: server.url, headers: {}, databaseUrl: null, isStored: false });
    },
    async startLynxroom(name, env = {}) {
      const databaseUrl = await createDatabase(name);
      const settings = { DATABASE_URL: databaseUrl, DATA_DIR: join(folder, name), RATE_LIMIT_SIGNED_IN: '0', ...env };
      const server = await startScript(scriptPath('../src/server.ts'), settings);
      const { path, token } = await createAccount(server.url);
      const headers = { authorization: `Bearer ${token}` };
      const isStored = env.S3_ENDPOINT !== sink.url;
      return track({ ...server, uploadUrl: server.url + path, headers, databaseUrl, isStored });
    },
    async close() {
      for (const server of servers) await server.stop();
      await sink.stop();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** As in the client (packages/client/src/resumable-upload.ts). */
const PART_BYTES = 8 * 1024 * 1024;
const boundary = '----bench7d1a9f';
const disposition = 'Content-Disposition: form-data; name="file"; filename="big.pdf"';
const head = Buffer.from(`--${boundary}\r\n${disposition}\r\nContent-Type: application/pdf\r\n\r\n`);
const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
const block = Buffer.alloc(1024 * 1024, 'bench-payload-');
const firstBlock = Buffer.concat([Buffer.from('%PDF-1.7\n'), block.subarray(9)]);

/** Yields the bytes of a PDF of `size` bytes from `start` to `end`, of which `start` is a multiple of a block. */
function* pdfBytes(size: number, start = 0, end = size): Generator<Buffer> {
  const until = Math.min(size, end);
  for (let at = start; at < until; at += block.length)
    yield (at === 0 ? firstBlock : block).subarray(0, Math.min(block.length, until - at));
}

type Answer = { status: number; headers: http.IncomingHttpHeaders; text: string };

/** Sends a request as fast as the server reads it. Throws if the status is not `status`. */
async function send(
  url: string,
  options: http.RequestOptions,
  body: Iterable<Buffer>,
  status: number,
): Promise<Answer> {
  const request = http.request(url, options);
  const answered = once(request, 'response') as Promise<[http.IncomingMessage]>;
  for (const bytes of body) if (!request.write(bytes)) await once(request, 'drain');
  request.end();
  const [response] = await answered;
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  if (response.statusCode !== status) throw new Error(`${response.statusCode} ${text}`);
  return { status, headers: response.headers, text };
}

/** Uploads a PDF of `size` bytes in one request. Returns the URL of the item; the plain server has none. */
export async function sendUpload({ uploadUrl, headers }: Server, size: number): Promise<string> {
  const options = {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': head.length + size + tail.length,
      ...headers,
    },
  };
  const { text } = await send(uploadUrl, options, [head, ...pdfBytes(size), tail], 200);
  const { item } = JSON.parse(text) as { item?: { id: number } };
  return `${uploadUrl}/${item?.id}`;
}

/** Uploads a PDF of `size` bytes resumably, in the parts that our client sends. Returns the URL of the item. */
export async function sendParts({ uploadUrl, headers }: Server, size: number): Promise<string> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const shared = { 'tus-resumable': '1.0.0', ...headers };
  try {
    const metadata = `filename ${btoa('big.pdf')},filetype ${btoa('application/pdf')}`;
    const created = { 'upload-length': size, 'upload-metadata': metadata, 'content-length': 0, ...shared };
    const upload = await send(`${uploadUrl}/uploads`, { method: 'POST', agent, headers: created }, [], 201);
    for (let offset = 0; ; offset += PART_BYTES) {
      const part = {
        'content-type': 'application/offset+octet-stream',
        'content-length': Math.min(PART_BYTES, size - offset),
        'upload-offset': offset,
        ...shared,
      };
      const body = pdfBytes(size, offset, offset + PART_BYTES);
      const answer = await send(upload.headers.location ?? '', { method: 'PATCH', agent, headers: part }, body, 204);
      const result = answer.headers['upload-result'];
      if (result !== undefined) return new URL(String(result), uploadUrl).href;
      if (Number(answer.headers['upload-offset']) !== offset + PART_BYTES) throw new Error('A part is not stored');
    }
  } finally {
    agent.destroy();
  }
}

/** Throws unless the recorded hash of an item, and its file, are those of the PDF. Then deletes the item. */
export async function requireStored({ databaseUrl, headers, isStored }: Server, item: string, size: number) {
  const expected = createHash('sha256');
  for (const bytes of pdfBytes(size)) expected.update(bytes);
  const sha256 = expected.digest('hex');
  const [row] = await query(
    databaseUrl ?? '',
    `select encode(sha256, 'hex') as sha256, size from library_items where id = $1`,
    [item.split('/').at(-1)],
  );
  if (row?.sha256 !== sha256 || Number(row.size) !== size) throw new Error(`${item} has a wrong hash`);
  if (isStored) {
    const { url } = (await (await fetch(`${item}/download`, { headers })).json()) as { url: string };
    const found = createHash('sha256');
    for await (const bytes of (await fetch(url)).body ?? []) found.update(bytes);
    if (found.digest('hex') !== sha256) throw new Error(`${item} has a wrong file`);
  }
  const deleted = await fetch(item, { method: 'DELETE', headers });
  if (!deleted.ok) throw new Error(`${item} was not deleted: ${deleted.status}`);
}

const CLOCK_TICK_MS = 10;

/** Returns the CPU time that a process has used, in milliseconds. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
}

function statusMib(pid: number, key: string): number {
  const kilobytes = new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

export function residentMib(pid: number): number {
  return statusMib(pid, 'VmRSS');
}
export function peakMib(pid: number): number {
  return statusMib(pid, 'VmHWM');
}

/** Resets the peak memory of a process (proc(5), clear_refs). It must belong to this user, unless root runs this. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Formats values as `median (min-max)`. */
export function spread(values: readonly number[], digits = 0): string {
  const [middle, min, max] = [median(values), Math.min(...values), Math.max(...values)].map((value) =>
    value.toFixed(digits),
  );
  return `${middle} (${min}-${max})`;
}
