/** The private parts of `pg` that the service uses. A version of `pg` that moves them fails here. */
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createQuery, destroyConnection, readBackendKey, sendTogether } from '../../src/db/pg-internals.ts';
import { eventually } from '../support/eventually.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { createDatabase, type TestDatabase } from '../support/test-app.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

let client: pg.Client;
beforeEach(() => {
  client = new pg.Client(database.url);
  // A connection that is destroyed reports it.
  client.on('error', () => {});
});
afterEach(() => client.end().catch(() => {}));

/** Resolves once a connection of the database runs a statement. */
async function untilActive(processId: number): Promise<void> {
  const observer = new pg.Client(database.url);
  await observer.connect();
  const query = 'select 1 from pg_stat_activity where pid = $1 and state = $2 and query like $3';
  await eventually(async () => (await observer.query(query, [processId, 'active', '%pg_sleep%'])).rowCount);
  await observer.end();
}

test('the key of a connection is the one by which PostgreSQL knows it', async () => {
  expect(readBackendKey(client)).toBeNull();
  await client.connect();
  const { rows } = await client.query('select pg_backend_pid() as "processID"');
  const key = readBackendKey(client);
  expect(key?.processID).toBe(rows[0].processID);
  const running = expect(client.query('select pg_sleep(60)')).rejects.toMatchObject({ code: '57014' });
  // A request that arrives before the statement cancels nothing.
  await untilActive(rows[0].processID);
  const { hostname, port } = new URL(database.url);
  const message = Buffer.alloc(16);
  // A CancelRequest: its length, its code, and the key.
  for (const [index, value] of [16, 80_877_102, key?.processID, key?.secretKey].entries())
    message.writeInt32BE(value ?? 0, index * 4);
  connect(Number(port), hostname).end(message);
  await running;
});

test('destroying a connection rejects its statement with the error', async () => {
  await client.connect();
  const running = client.query('select pg_sleep(60)');
  destroyConnection(client, new Error('given up'));
  await expect(running).rejects.toThrow('given up');
});

test('statements that are sent together arrive in one piece', async () => {
  const pieces: string[] = [];
  const proxy = await startTcpProxy(database.url, (piece) => {
    pieces.push(piece.toString('latin1'));
    return piece;
  });
  const piped = new pg.Client({ connectionString: proxy.url, pipeline: true });
  await piped.connect();
  pieces.length = 0;
  sendTogether(piped);
  await Promise.all([piped.query('begin'), piped.query('select 1 as one')]);
  expect(pieces).toHaveLength(1);
  expect(pieces[0]).toMatch(/begin[\s\S]*select 1 as one/);
  await piped.end();
  await proxy.close();
});

test('a created query calls back with its rows, and is prepared under its name', async () => {
  await client.connect();
  const run = (statement: Parameters<typeof createQuery>[0]) =>
    new Promise((resolve, reject) => {
      const query = createQuery(statement, (error, result) => (error ? reject(error) : resolve(result)));
      client.query(query);
    });
  expect(await run('select 1 as one')).toMatchObject({ rows: [{ one: 1 }] });
  expect(await run({ name: 'two', text: 'select $1::int as two', values: [2] })).toMatchObject({ rows: [{ two: 2 }] });
  const { rows } = await client.query('select name from pg_prepared_statements');
  expect(rows).toEqual([{ name: 'two' }]);
  await expect(run('select broken')).rejects.toMatchObject({ code: '42703' });
});

test('no other file uses private parts of pg', async () => {
  const src = fileURLToPath(new URL('../../src/', import.meta.url));
  const paths = (await readdir(src, { recursive: true })).filter((path) => path.endsWith('.ts'));
  const users: string[] = [];
  for (const path of paths.filter((path) => !path.startsWith('db/generated/')))
    if (
      /\b(?:secretKey: number|connection: \{ stream|pg\.Query\(|\.cork\(\))/.test(
        await readFile(join(src, path), 'utf8'),
      )
    )
      users.push(path);
  expect(users).toEqual(['db/pg-internals.ts']);
});
