/** A server that is killed in the middle of a request with an idempotency key, and the request that is sent again. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { createHttp } from '../support/http.ts';
import { makePdf } from '../support/media.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { createDatabase, type TestDatabase } from '../support/test-app.ts';
import { newKey, type Outcome, toOutcome } from './idempotent.ts';

/** The advisory lock at which the server stops. */
const GATE = 4711;

let database: TestDatabase;
let client: pg.Client;
let dataDir: string;
let server: ServerProcess | undefined;

beforeAll(async () => {
  database = await createDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'lynxroom-kill-'));
  client = new pg.Client({ connectionString: database.superuserUrl });
  await client.connect();
  await client.query(`
    create function wait_at_gate() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(${GATE}); return new; end $$`);
});
afterAll(async () => {
  await server?.end('SIGKILL');
  await client.end();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

async function start(): Promise<string> {
  server = startServer({
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    LOG_LEVEL: 'info',
    RUN_WORKER: '1',
    ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
  });
  return server.ready;
}

/** Runs `send`, and kills the server when it updates the row of the key in a way that meets `condition`. */
async function killAt(condition: string, send: (url: string) => Promise<unknown>): Promise<void> {
  const url = await start();
  await client.query(
    `create trigger gate before update on idempotency_keys for each row when (${condition})
     execute function wait_at_gate()`,
  );
  await client.query('select pg_advisory_lock($1)', [GATE]);
  const sent = send(url).then(
    () => 'answered',
    () => 'cut off',
  );
  await eventually(async () => (await countWaiting()) > 0);
  await server?.end('SIGKILL');
  expect(await sent).toBe('cut off');
  // PostgreSQL notices within a second that the server is gone. Until then the statement must not continue.
  await eventually(async () => (await countWaiting()) === 0);
  await client.query('select pg_advisory_unlock($1)', [GATE]);
  await eventually(async () => {
    const { rows } = await client.query(
      `select 1 from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`,
    );
    return rows.length === 0;
  });
  await client.query('drop trigger gate on idempotency_keys');
}

/** How many statements wait at the gate. */
async function countWaiting(): Promise<number> {
  const { rows } = await client.query(
    "select 1 from pg_locks where locktype = 'advisory' and objid = $1 and not granted",
    [GATE],
  );
  return rows.length;
}

/** Sends a request to a new server, once the lease of the killed one has expired. */
async function retry(send: (url: string) => Promise<Outcome>): Promise<Outcome> {
  await client.query("update idempotency_keys set leased_until = now() - interval '1 second'");
  const url = await start();
  const outcome = await send(url);
  await server?.end('SIGTERM');
  return outcome;
}

async function register(): Promise<{ token: string; workspaceId: number }> {
  const http = createHttp(await start());
  const account = { name: 'Ada', email: `${newKey()}@example.com`, password: 'correct horse battery' };
  const { token } = (await http.post('/api/auth/register', undefined, account)).body;
  const { workspaces } = (await http.get('/api/workspaces', token)).body;
  await server?.end('SIGTERM');
  return { token, workspaceId: workspaces[0].id };
}

async function count(table: string): Promise<number> {
  return (await client.query(`select count(*)::int as count from ${table}`)).rows[0].count;
}

test('a write is never carried out twice, wherever the server is killed', async () => {
  const { token, workspaceId } = await register();
  const headers = (key: string) => ({ 'idempotency-key': key });
  const createRoom = (key: string) => async (url: string) =>
    toOutcome(await createHttp(url).call('POST', '/api/dashboard/rooms', { token, json: {}, headers: headers(key) }));
  const upload = (key: string) => async (url: string) => {
    const body = new FormData();
    body.append('file', new Blob([Uint8Array.from(makePdf())], { type: 'application/pdf' }), 'a.pdf');
    const path = `/api/workspaces/${workspaceId}/library`;
    return toOutcome(await createHttp(url).call('POST', path, { token, body, headers: headers(key) }));
  };

  // Before the commit: the transaction is rolled back, and the retry carries the request out.
  let key = newKey();
  await killAt('new.is_executed and not old.is_executed', createRoom(key));
  expect(await count('rooms')).toBe(0);
  expect(await retry(createRoom(key))).toMatchObject({ status: 201, isReplayed: false });
  expect(await count('rooms')).toBe(1);

  // After the commit, before the answer is stored: the retry is told that the request was carried out.
  key = newKey();
  await killAt('old.is_executed and old.answer is null', createRoom(key));
  expect(await count('rooms')).toBe(2);
  expect(await retry(createRoom(key))).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_ANSWER_LOST' } });
  expect(await count('rooms')).toBe(2);

  key = newKey();
  await killAt('new.is_executed and not old.is_executed', upload(key));
  expect(await count('library_items')).toBe(0);
  expect(await retry(upload(key))).toMatchObject({ status: 200, isReplayed: false });
  expect(await count('library_items')).toBe(1);

  // The answer to an upload is stored with the item, so the retry gets it.
  key = newKey();
  const cutOff = upload(key)(await start()).catch(() => null);
  await eventually(async () => (await count('library_items')) === 2);
  await server?.end('SIGKILL');
  await cutOff;
  expect(await retry(upload(key))).toMatchObject({ status: 200, isReplayed: true });
  expect(await count('library_items')).toBe(2);
}, 180_000);
