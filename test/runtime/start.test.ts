/** `npm start`: the first start, later starts, starts that fail, and the shutdown. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { type ServerProcess, startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

// Each test starts up to three servers, which takes minutes on a busy machine. All waits end with an event.
vi.setConfig({ testTimeout: 10 * MINUTE_MS, hookTimeout: 10 * MINUTE_MS });
afterAll(() => vi.resetConfig());

let dataDir: string;
let servers: ServerProcess[];

beforeEach(async () => {
  dataDir = await makeTempDir();
  servers = [];
});

afterEach(async () => {
  await Promise.all(servers.map(stopServer));
  await rm(dataDir, { recursive: true, force: true });
});

function start(env: Record<string, string> = {}): ServerProcess {
  const server = startServer({ DATA_DIR: dataDir, ...env });
  servers.push(server);
  return server;
}

/** Reads the process id of the embedded PostgreSQL. */
async function readPostgresPid(): Promise<number> {
  const text = await readFile(join(dataDir, 'postgres', 'cluster', 'postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

test('the commands that a start prints work when pasted into a shell, also the second time', async () => {
  const server = start();
  await server.ready;
  const lines = server.messages().join('\n').split('Try it from another terminal in this directory:\n')[1] ?? '';
  const paste = () => run('bash', ['-euc', lines], { cwd: root, env: { ...process.env } });
  const first = (await paste()).stdout;
  expect(first).toMatch(/Uploaded sample\.pdf as item 1 [\s\S]*Uploaded sample\.mp4 as item 2 /);
  const { stdout } = await paste();
  expect(stdout).toContain('Uploaded sample.pdf as item ');
  expect(stdout.match(/^\d+ +sample\.pdf /gm)?.length).toBe(2);
  expect(stdout).toContain('Uploaded Offer.pdf');
  expect(stdout).toContain('Downloaded 627 bytes');
  expect(stdout).toContain('Deleted both\n');
  expect(stdout).toContain('Uploaded the recording: available, 3 s, 3291 bytes');
  expect(stdout).toContain('Cancelled the booking: its room is deleted');
  expect(stdout.match(/received room\.created/g)?.length).toBe(2);
  expect(stdout).toContain('attempt 1: 500 broken');
  expect(stdout).toContain('attempt 2: 204');
  // Only the owner of the directory may read the key.
  expect((await stat(join(dataDir, 'demo.env'))).mode & 0o777).toBe(0o600);
  expect(server.output()).not.toContain('lnx_');
});

test('a second start keeps the data and the key of the demo account', async () => {
  const first = start();
  await first.ready;
  const before = await readFile(join(dataDir, 'demo.env'), 'utf8');
  expect(await stopServer(first)).toBe(0);
  const second = start();
  const url = await second.ready;
  const after = await readFile(join(dataDir, 'demo.env'), 'utf8');
  const tokenOf = (text: string): string | undefined => /LYNXROOM_TOKEN=(\S+)/.exec(text)?.[1];
  expect(tokenOf(after)).toBe(tokenOf(before));
  const mine = await fetch(`${url}/api/workspaces`, { headers: { authorization: `Bearer ${tokenOf(after)}` } });
  expect(await mine.json()).toMatchObject({ workspaces: [{ name: 'Personal' }] });
});

test('a start and `lynxroom open` print links that sign in to the demo account once', async () => {
  const server = start({ LOG_LEVEL: 'info' });
  const url = await server.ready;
  const printed = /^ {2}(http:\S+\/open#token=lnm_\S+)$/m.exec(server.messages().join('\n'))?.[1] ?? '';
  const open = () =>
    run(process.execPath, ['src/lynxroom.ts', 'open'], { cwd: root, env: { ...process.env, DATA_DIR: dataDir } });
  const another = (await open()).stdout.trim();
  const spend = async (link: string) => {
    const [address = '', body = ''] = link.split('#token=');
    expect(address).toBe(`${url}/open`);
    const response = await fetch(address, { method: 'POST', headers: { 'content-type': 'text/plain' }, body });
    return response.status;
  };
  for (const link of [printed, another]) expect([await spend(link), await spend(link)]).toEqual([200, 400]);
  // The banner alone has the first link.
  const token = printed.split('=')[1] ?? '';
  expect(server.output().split(token)).toHaveLength(2);
  expect(await stopServer(server)).toBe(0);
  await expect(open()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('start it with npm start') });
});

test('log lines are written soon, and none is missing when the server has stopped', async () => {
  const server = start({ LOG_LEVEL: 'info' });
  const url = await server.ready;
  const countRequests = (): number => server.output().match(/"route":"\/health"/g)?.length ?? 0;
  await fetch(`${url}/health`);
  // Nothing else is logged meanwhile.
  await vi.waitUntil(() => countRequests() === 1, { timeout: MINUTE_MS });
  await Promise.all(Array.from({ length: 100 }, () => fetch(`${url}/health`)));
  expect(await stopServer(server)).toBe(0);
  expect(countRequests()).toBe(101);
  expect(server.output()).toContain('"msg":"Stopping"');
});

test('a start succeeds after SIGKILL of the server, and of the server and its PostgreSQL', async () => {
  const first = start();
  await first.ready;
  first.child.kill('SIGKILL');
  await first.ended;
  // PostgreSQL still runs: kill(pid, 0) throws for a process that has ended.
  process.kill(await readPostgresPid(), 0);
  const second = start();
  await second.ready;
  process.kill(await readPostgresPid(), 'SIGKILL');
  second.child.kill('SIGKILL');
  await second.ended;
  const third = start();
  expect((await fetch(`${await third.ready}/ready`)).status).toBe(200);
});

test('a second server on the same data directory exits with one line, and the first keeps running', async () => {
  const first = start();
  const url = await first.ready;
  const second = start();
  expect(await second.ended).toBe(1);
  expect(second.messages()).toEqual([expect.stringContaining('in use')]);
  expect((await fetch(`${url}/ready`)).status).toBe(200);
});

test('a start with a broken encryption key file fails with one line that says what to do', async () => {
  await writeFile(join(dataDir, 'encryption-key'), 'not a key\n');
  const server = start();
  expect(await server.ended).toBe(1);
  expect(server.messages()).toEqual([
    `${join(dataDir, 'encryption-key')} is not an encryption key: restore it, or set ENCRYPTION_KEY`,
  ]);
});

test('a start on a busy port fails with one line and leaves no PostgreSQL behind', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const server = start({ PORT: String(port) });
  expect(await server.ended).toBe(1);
  expect(server.messages()).toEqual([`Port ${port} is in use: set PORT to another one`]);
  await expect(readPostgresPid()).rejects.toThrow('ENOENT');
  other.close();
});

test('a start with invalid settings names all of them', async () => {
  const server = start({ PORT: 'eighty', S3_ENDPOINT: 'ftp://files' });
  expect(await server.ended).toBe(1);
  expect(server.output()).toContain('PORT must be a whole number from 0 to 65535');
  expect(server.output()).toContain('S3_ENDPOINT must be a URL that begins with http:// or https://');
});

test('a start without a reachable database fails with one line', async () => {
  const server = start({ DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' });
  expect(await server.ended).toBe(1);
  expect(server.messages()).toEqual([expect.stringContaining('Failed to connect to the database')]);
});

test('on SIGTERM the server finishes requests in progress, not waiting for silent connections', async () => {
  const server = start({ DRAIN_SECONDS: '3600' });
  const url = await server.ready;
  // As browsers open them in advance.
  const silent = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
  await once(silent, 'connect');
  const isClosed = once(silent, 'close');
  const env = await readFile(join(dataDir, 'demo.env'), 'utf8');
  const token = /LYNXROOM_TOKEN=(\S+)/.exec(env)?.[1];
  const workspace = /LYNXROOM_WORKSPACE=(\d+)/.exec(env)?.[1];
  // Long enough for the server to detect the file type before the end arrives.
  const pdf = Buffer.concat([await readFile(join(root, 'examples/sample.pdf')), Buffer.alloc(8192, '%')]);
  const boundary = 'drain';
  const disposition = 'content-disposition: form-data; name="file"; filename="a.pdf"';
  const head = `--${boundary}\r\n${disposition}\r\ncontent-type: application/pdf\r\n\r\n`;
  let finish = (): void => {};
  const rest = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(Buffer.from(head));
      controller.enqueue(pdf);
      await rest;
      controller.enqueue(Buffer.from(`\r\n--${boundary}--\r\n`));
      controller.close();
    },
  });
  const answer = fetch(`${url}/api/workspaces/${workspace}/library`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
    body,
    duplex: 'half',
  } as RequestInit);
  // The upload has reached the server when its file is being staged.
  await expect.poll(() => readdir(join(dataDir, 'files', 'staging'))).toHaveLength(1);
  server.child.kill('SIGTERM');
  await expect.poll(() => fetch(`${url}/health`).catch(() => 'refused')).toBe('refused');
  await isClosed;
  finish();
  expect((await answer).status).toBe(200);
  expect(await server.ended).toBe(0);
});
