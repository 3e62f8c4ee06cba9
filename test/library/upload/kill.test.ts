import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/core/time.ts';
import { openDatabase } from '../../../src/db/client.ts';
import { startEmbeddedPostgres } from '../../../src/db/embedded.ts';
import { createDiskStore } from '../../../src/storage/disk-store.ts';
import { sweepStorage } from '../../../src/storage/sweep.ts';
import { readAll } from '../../storage/sources.ts';
import { createHttp, type Http } from '../../support/http.ts';
import { quietLog } from '../../support/quiet-log.ts';

const ROUNDS = 4;
const SERVER = fileURLToPath(new URL('../../../src/server.ts', import.meta.url));

type Running = { http: Http; end(signal: NodeJS.Signals): Promise<void> };

let dataDir: string;
let last: Running | undefined;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'lynxroom-kill-'));
  await chmod(dataDir, 0o755);
});
afterAll(async () => {
  await last?.end('SIGKILL');
  await rm(dataDir, { recursive: true, force: true });
});

/** Starts the server like `npm start`. */
async function start(): Promise<Running> {
  const env = { PATH: process.env.PATH, PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'fatal' };
  const child = spawn(process.execPath, [SERVER], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /is listening on (\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    last = { http: createHttp(url), end };
    return last;
  }
  throw new Error('The server exited before it was listening');
}

async function register(http: Http): Promise<{ token: string; library: string }> {
  const account = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' };
  const { token } = (await http.post('/api/auth/register', undefined, account)).body;
  const { workspaces } = (await http.get('/api/workspaces', token)).body;
  return { token, library: `/api/workspaces/${workspaces[0].id}/library` };
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

type Acknowledged = Map<number, string>;

/** Uploads one file after another until the server is killed, and records what it acknowledged. */
async function uploadUntilKilled(
  http: Http,
  path: string,
  token: string,
  record: (id: number, sha256: string) => void,
) {
  for (let count = 0; ; count += 1) {
    const bytes = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes([1_000, 300_000, 3_000_000][count % 3] ?? 0)]);
    const body = new FormData();
    body.append('file', new Blob([Uint8Array.from(bytes)], { type: 'application/pdf' }), 'a.pdf');
    const answer = await http.call('POST', path, { token, body }).catch((error: unknown) => {
      // Fetch throws a TypeError if a connection is refused or closed.
      if (error instanceof TypeError) return null;
      throw error;
    });
    if (answer === null) return;
    expect(answer.status).toBe(200);
    record(answer.body.item.id, sha256Of(bytes));
  }
}

test('a server that is killed repeatedly during uploads loses no acknowledged file and leaves no orphan', async () => {
  const acknowledged: Acknowledged = new Map();
  let account: Awaited<ReturnType<typeof register>> | undefined;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const server = await start();
    account ??= await register(server.http);
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    const target = acknowledged.size + 3 * round;
    const { token, library } = account;
    const uploads = Array.from({ length: 5 }, () =>
      uploadUntilKilled(server.http, library, token, (id, sha256) => {
        acknowledged.set(id, sha256);
        if (acknowledged.size >= target) resolve();
      }),
    );
    await enough;
    await server.end('SIGKILL');
    await Promise.all(uploads);
  }

  const server = await start();
  const { token = '', library = '' } = account ?? {};
  for (const [id, sha256] of acknowledged) {
    const { url } = (await server.http.get(`${library}/${id}/download`, token)).body;
    expect(sha256Of(new Uint8Array(await (await fetch(url)).arrayBuffer()))).toBe(sha256);
  }
  await server.end('SIGTERM');

  const postgres = await startEmbeddedPostgres({ dataDir, log: quietLog });
  const db = openDatabase({ connectionString: postgres.url, poolSize: 2, onError: () => {} });
  const files = join(dataDir, 'files');
  const clock = { now: () => new Date(Date.now() + DAY_MS + 60_000) };
  const store = await createDiskStore({ root: files, signingSecret: 'a secret for tests only', clock });
  const report = await sweepStorage({ db, store, clock, log: quietLog });
  const rows = await db.libraryItem.findMany();
  const keys = rows.map(({ fileKey }) => fileKey).sort();
  expect(report).toMatchObject({ rowsWithoutObject: 0 });
  expect(await readAll(store.list(''))).toEqual(keys);
  expect(await readdir(join(files, 'staging'))).toEqual([]);
  for (const { fileKey, sha256 } of rows)
    expect(sha256Of(await readFile(join(files, 'objects', fileKey)))).toBe(Buffer.from(sha256).toString('hex'));
  expect(await db.event.count({ where: { type: 'library_item.uploaded' } })).toBe(rows.length);
  expect((await db.workspace.findFirst({ where: { items: { some: {} } } }))?.libraryItemCount).toBe(rows.length);
  await db.$disconnect();
  await postgres.stop();
}, 300_000);
