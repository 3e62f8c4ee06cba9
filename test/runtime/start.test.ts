/** `npm start` as people meet it: the first start, the next ones, and every way in which a start can go wrong. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ServerProcess, startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

let dataDir: string;
let servers: ServerProcess[];

beforeEach(async () => {
  dataDir = await makeTempDir();
  servers = [];
});

afterEach(async () => {
  for (const server of servers) {
    if (server.child.exitCode === null && server.child.signalCode === null) await stopServer(server);
  }
  await rm(dataDir, { recursive: true, force: true });
});

function start(env: Record<string, string> = {}): ServerProcess {
  const server = startServer({ DATA_DIR: dataDir, ...env });
  servers.push(server);
  return server;
}

/** The pid of the PostgreSQL below a server. */
async function postgresPid(): Promise<number> {
  const text = await readFile(join(dataDir, 'postgres', 'cluster', 'postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

test('the lines that the first start prints do what they say, pasted into a shell', async () => {
  const server = start();
  await server.ready;
  const lines = server.output().split('Try it from another terminal in this folder:\n')[1]?.trim() ?? '';
  const { stdout } = await run('bash', ['-euc', lines], { cwd: root, env: { ...process.env } });
  const answers = stdout.split('\n').filter((line) => line.startsWith('{'));
  expect(answers.map((line) => JSON.parse(line))).toMatchObject([
    { item: { name: 'sample.pdf', mime_type: 'application/pdf' } },
    { item: { name: 'Stand-up', mime_type: 'video/mp4', duration: 3 } },
    { label: { name: 'Contracts' } },
    { labels: [{ name: 'Contracts' }] },
    { total: 1, items: [{ name: 'sample.pdf' }] },
    { url: expect.stringContaining('/files/') },
    { ok: true },
  ]);
  expect(stdout).toContain('Uploaded Offer.pdf');
  expect(stdout).toContain('Downloaded 627 bytes');
  expect(stdout).toContain('Deleted\n');
  expect(stdout).toContain('Uploaded the recording: available, 3 s, 3291 bytes');
  expect(stdout).toContain('Cancelled it; its room is gone');
  expect(stdout.match(/received room\.created/g)?.length).toBe(2);
  expect(stdout).toContain('attempt 1: 500 broken');
  expect(stdout).toContain('attempt 2: 204');
  // The key is for the owner of the folder alone.
  expect((await stat(join(dataDir, 'demo.env'))).mode & 0o777).toBe(0o600);
  expect(server.output()).not.toContain('lnx_');
});

test('a second start finds the data of the first, and the demo account keeps its key', async () => {
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

test('a start works without help after SIGKILL of the server alone, and of both', async () => {
  const first = start();
  await first.ready;
  first.child.kill('SIGKILL');
  await first.ended;
  // Its PostgreSQL still runs: kill(pid, 0) throws for a process that is gone.
  process.kill(await postgresPid(), 0);
  const second = start();
  await second.ready;
  process.kill(await postgresPid(), 'SIGKILL');
  second.child.kill('SIGKILL');
  await second.ended;
  const third = start();
  expect((await fetch(`${await third.ready}/ready`)).status).toBe(200);
});

test('a second server on the same data folder says so and ends; the first is unharmed', async () => {
  const first = start();
  const url = await first.ready;
  const second = start();
  expect(await second.ended).toBe(1);
  expect(second.output().trim().split('\n')).toHaveLength(1);
  expect(second.output()).toContain('in use');
  expect((await fetch(`${url}/ready`)).status).toBe(200);
});

test('a key file that holds no key ends the start with one line that says what to do', async () => {
  await writeFile(join(dataDir, 'encryption-key'), 'not a key\n');
  const server = start();
  expect(await server.ended).toBe(1);
  expect(server.output()).toBe(
    `${join(dataDir, 'encryption-key')} is no encryption key: restore it, or set ENCRYPTION_KEY\n`,
  );
});

test('a busy port gives one clear line, and leaves no PostgreSQL behind', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const server = start({ PORT: String(port) });
  expect(await server.ended).toBe(1);
  expect(server.output().trim()).toBe(`Port ${port} is in use: set PORT to another one`);
  await expect(postgresPid()).rejects.toThrow('ENOENT');
  other.close();
});

test('a wrong variable is named, all of them at once', async () => {
  const server = start({ PORT: 'eighty', S3_ENDPOINT: 'ftp://files' });
  expect(await server.ended).toBe(1);
  expect(server.output()).toContain('PORT must be a whole number from 0 to 65535');
  expect(server.output()).toContain('S3_ENDPOINT must be a URL that begins with http:// or https://');
});

test('a database that cannot be reached gives one clear line', async () => {
  const server = start({ DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' });
  expect(await server.ended).toBe(1);
  expect(server.output().trim().split('\n').at(-1)).toContain('The database cannot be reached');
});

test('SIGTERM lets a request in progress finish, and then ends with status 0', async () => {
  const server = start();
  const url = await server.ready;
  const env = await readFile(join(dataDir, 'demo.env'), 'utf8');
  const token = /LYNXROOM_TOKEN=(\S+)/.exec(env)?.[1];
  const workspace = /LYNXROOM_WORKSPACE=(\d+)/.exec(env)?.[1];
  // Long enough for its kind to be looked at before its end has come.
  const pdf = Buffer.concat([await readFile(join(root, 'examples/sample.pdf')), Buffer.alloc(8192, '%')]);
  const boundary = 'drain';
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\ncontent-type: application/pdf\r\n\r\n`;
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
  // The upload has reached the server once its file is being staged.
  await expect.poll(() => readdir(join(dataDir, 'files', 'staging'))).toHaveLength(1);
  server.child.kill('SIGTERM');
  await expect.poll(() => fetch(`${url}/health`).catch(() => 'refused')).toBe('refused');
  finish();
  expect((await answer).status).toBe(200);
  expect(await server.ended).toBe(0);
});
