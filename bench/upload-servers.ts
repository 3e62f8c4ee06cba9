/** Starts the servers that the upload benches measure, sends uploads, and reads a process's costs from /proc. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../src/db/embedded.ts';

export type Server = { pid: number; uploadUrl: string; headers: Record<string, string>; stop(): Promise<void> };

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
    env: { ...process.env, NODE_ENV: 'production', LOG_LEVEL: 'error', PORT: String(port), ...env },
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
  startPlain(way: 'disk' | 's3', env?: Record<string, string>): Promise<Server>;
  /** Starts the real service, which stores files on the disk, or in S3 if `env` says so. */
  startLynxroom(name: string, env?: Record<string, string>): Promise<Server>;
  /** The environment of a service that stores files in the S3 sink. */
  s3: Record<string, string>;
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
  const sink = await startScript(scriptPath('upload-s3-sink.ts'), {}, '1');
  const servers: Server[] = [];
  const track = (server: Server): Server => {
    servers.push(server);
    return server;
  };
  return {
    folder,
    s3: { S3_BUCKET: 'bench', S3_ENDPOINT: sink.url, S3_ACCESS_KEY_ID: 'key', S3_SECRET_ACCESS_KEY: 'secret' },
    async startPlain(way, env = {}) {
      const server = await startScript(scriptPath('upload-plain-server.ts'), { WAY: way, FOLDER: folder, ...env });
      return track({ ...server, uploadUrl: server.url, headers: {} });
    },
    async startLynxroom(name, env = {}) {
      const settings = { DATABASE_URL: postgres.url, DATA_DIR: join(folder, name), RATE_LIMIT_SIGNED_IN: '0', ...env };
      const server = await startScript(scriptPath('../src/server.ts'), settings);
      const { path, token } = await createAccount(server.url);
      return track({ ...server, uploadUrl: server.url + path, headers: { authorization: `Bearer ${token}` } });
    },
    async close() {
      for (const server of servers) await server.stop();
      await sink.stop();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const boundary = '----bench7d1a9f';
const disposition = 'Content-Disposition: form-data; name="file"; filename="big.pdf"';
const head = Buffer.from(`--${boundary}\r\n${disposition}\r\nContent-Type: application/pdf\r\n\r\n`);
const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
const block = Buffer.alloc(1024 * 1024, 'bench-payload-');
const firstBlock = Buffer.concat([Buffer.from('%PDF-1.7\n'), block.subarray(9)]);

/** Uploads a PDF of `size` bytes as fast as the server reads it. */
export async function sendUpload({ uploadUrl, headers }: Server, size: number): Promise<void> {
  const request = http.request(uploadUrl, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': head.length + size + tail.length,
      ...headers,
    },
  });
  const answered = once(request, 'response') as Promise<[http.IncomingMessage]>;
  const write = async (bytes: Buffer): Promise<void> => {
    if (!request.write(bytes)) await once(request, 'drain');
  };
  await write(head);
  for (let sent = 0; sent < size; sent += block.length)
    await write((sent === 0 ? firstBlock : block).subarray(0, Math.min(block.length, size - sent)));
  request.end(tail);
  const [response] = await answered;
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${text}`);
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
