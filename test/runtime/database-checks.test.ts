/** What a server checks about its database at start: each refusal is one line, and leaves nothing behind. */
import { rm } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { describeUnsuitable } from '../../src/db/check-database.ts';
import { openDatabase } from '../../src/db/client.ts';
import { isUnavailable } from '../../src/db/errors.ts';
import { createHttp } from '../support/http.ts';
import { type Pgbouncer, pgbouncerPath, startPgbouncer } from '../support/pgbouncer.ts';
import { type ServerProcess, startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase } from '../support/test-app.ts';

// Each test starts up to two servers.
vi.setConfig({ testTimeout: 10 * MINUTE_MS, hookTimeout: 10 * MINUTE_MS });
afterAll(() => vi.resetConfig());

let database: Awaited<ReturnType<typeof createDatabase>>;
let admin: pg.Client;
let dataDir: string;
let servers: ServerProcess[];

beforeEach(async () => {
  servers = [];
  dataDir = await makeTempDir();
  database = await createDatabase();
  admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
});
afterEach(async () => {
  await Promise.all(servers.map(stopServer));
  await admin.end();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

function start(env: Record<string, string>): ServerProcess {
  const server = startServer({ DATA_DIR: dataDir, ...env });
  servers.push(server);
  return server;
}

/** Starts a server that must refuse to start, and returns its last line: it may log warnings before. */
async function refusalOf(env: Record<string, string>): Promise<string> {
  const server = start({ LOG_LEVEL: 'error', ...env });
  expect(await server.ended, server.output()).toBe(1);
  const lines = server.output().trim().split('\n');
  expect(lines, server.output()).toHaveLength(1);
  return lines[0] ?? '';
}

function databaseName(): string {
  return new URL(database.url).pathname.slice(1);
}

test('a database whose encoding is not UTF-8 is refused', async () => {
  const name = `${databaseName()}_ascii`;
  await admin.query(`create database ${name} template template0 encoding sql_ascii locale_provider libc locale 'C'`);
  const url = Object.assign(new URL(inject('postgresUrl')), { pathname: `/${name}` }).href;
  expect(await refusalOf({ DATABASE_URL: url })).toMatch(/^The database has the encoding SQL_ASCII: create one with/);
  await admin.query(`drop database ${name} with (force)`);
});

test('a PostgreSQL older than 16 is refused', () => {
  const facts = { encoding: 'UTF8', versionNumber: 150_018, version: '15.18 (Debian 15.18-0+deb12u1)' };
  expect(describeUnsuitable(facts)).toBe(
    'PostgreSQL 16 or newer is required, but the database has version 15.18 (Debian 15.18-0+deb12u1): upgrade it',
  );
  expect(describeUnsuitable({ ...facts, versionNumber: 160_000 })).toBeNull();
});

test('a superuser in DATABASE_URL is warned about', async () => {
  const server = start({ DATABASE_URL: database.superuserUrl, LOG_LEVEL: 'warn' });
  await expect.poll(server.output).toContain('The role of DATABASE_URL is a superuser');
});

test('a direct URL of another database is refused', async () => {
  const other = await createDatabase();
  const line = await refusalOf({ DATABASE_URL: inject('postgresUrl'), DATABASE_DIRECT_URL: other.url });
  expect(line).toBe('DATABASE_URL and DATABASE_DIRECT_URL connect to different databases');
  await other.drop();
});

test('times are right in a database with another time zone', async () => {
  await admin.query(`alter database ${databaseName()} set timezone = 'America/New_York'`);
  await expectWorking(await start({ DATABASE_URL: database.url }).ready);
});

/** Registers an account, creates rooms concurrently, and checks what PostgreSQL says about their time. */
async function expectWorking(url: string): Promise<void> {
  const http = createHttp(url);
  const account = { name: 'Olive', email: 'olive@example.com', password: 'a password of Olive' };
  const { body } = await http.post('/api/auth/register', undefined, account);
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      index % 2 ? http.post('/api/dashboard/rooms', body.token, {}) : http.get('/api/dashboard/rooms', body.token),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 201]));
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query(
    `select count(*)::int as rooms, max(abs(extract(epoch from now() - created_at))) < 3000 as "isNow" from rooms`,
  );
  expect(rows).toEqual([{ rooms: 100, isNow: true }]);
  // The events reach the relay, which runs on the job queue's connections.
  await expect.poll(async () => (await client.query('select from events where relayed_at is null')).rowCount).toBe(0);
  await client.end();
}

describe.runIf(pgbouncerPath)('through pgbouncer', () => {
  let session: Pgbouncer;
  let transaction: Pgbouncer;
  const transactionOf = (url: string): Record<string, string> => ({
    DATABASE_URL: transaction.urlOf(url),
    DATABASE_DIRECT_URL: url,
    DATABASE_POOLING: 'transaction',
  });

  beforeAll(async () => {
    session = await startPgbouncer(inject('roleUrl'), { pool_mode: 'session' });
    transaction = await startPgbouncer(inject('roleUrl'), { pool_mode: 'transaction', default_pool_size: '5' });
  });
  afterAll(async () => {
    await session.stop();
    await transaction.stop();
  });

  /** The locks of migrations in the database of this test. Other tests migrate theirs at the same time. */
  async function countLocks(): Promise<number | null> {
    const { rowCount } = await admin.query(
      `select from pg_locks l join pg_database d on d.oid = l.database
        where l.locktype = 'advisory' and l.objid = 72707369 and d.datname = $1`,
      [databaseName()],
    );
    return rowCount;
  }

  test('session mode works with its defaults, whatever the time zone of the database', async () => {
    await admin.query(`alter database ${databaseName()} set timezone = 'America/New_York'`);
    await expectWorking(await start({ DATABASE_URL: session.urlOf(database.url) }).ready);
  });

  test('transaction mode works, for two servers, and leaves no lock behind', async () => {
    await admin.query(`alter database ${databaseName()} set timezone = 'UTC'`);
    const env = transactionOf(database.url);
    await expectWorking(await start(env).ready);
    await start({ ...env, DATA_DIR: dataDir }).ready;
    expect(await countLocks()).toBe(0);
  });

  test('transaction mode cancels a statement that takes too long', async () => {
    // As the operating guide says.
    await admin.query(`alter database ${databaseName()} set client_connection_check_interval = '1s'`);
    const db = openDatabase({
      connectionString: transaction.urlOf(database.url),
      poolSize: 1,
      pooling: 'transaction',
      statementTimeoutMs: 300,
      onError: () => {},
    });
    const error = await db.$queryRaw`select pg_sleep(60)::text`.catch((cause: unknown) => cause);
    expect(isUnavailable(error), String(error)).toBe(true);
    const running = `select from pg_stat_activity where datname = $1 and state = 'active'`;
    // Long before the statement would end.
    const count = async () => (await admin.query(running, [databaseName()])).rowCount;
    await expect.poll(count, { timeout: 30_000 }).toBe(0);
    expect(await db.user.count()).toBe(0);
    await db.$disconnect();
  });

  test('transaction mode without the setting is refused, and leaves no lock behind', async () => {
    expect(await refusalOf({ DATABASE_URL: transaction.urlOf(database.url) })).toBe(
      'DATABASE_URL connects to a pooler in transaction mode: set DATABASE_POOLING=transaction, ' +
        'and DATABASE_DIRECT_URL to a URL that does not use the pooler',
    );
    expect(await countLocks()).toBe(0);
  });

  test('a direct URL that connects to a pooler in transaction mode is refused', async () => {
    const url = transaction.urlOf(database.url);
    const env = { DATABASE_URL: url, DATABASE_DIRECT_URL: url, DATABASE_POOLING: 'transaction' };
    expect(await refusalOf(env)).toMatch(/^DATABASE_DIRECT_URL connects to a pooler in transaction mode: /);
  });

  test('transaction mode with sessions in another time zone is refused, with the statement that helps', async () => {
    await admin.query(`alter database ${databaseName()} set timezone = 'America/New_York'`);
    const line = await refusalOf(transactionOf(database.url));
    expect(line).toMatch(/^The time zone of the pooler's sessions is America\/New_York and must be UTC\. /);
    const remedies = line.split('let the pooler reconnect: ')[1] ?? '';
    expect(remedies).toContain(`IN DATABASE ${databaseName()} SET TimeZone = 'UTC'`);
    await admin.query(remedies);
    // A pooler of its own has no old sessions.
    const other = await startPgbouncer(inject('roleUrl'), { pool_mode: 'transaction' });
    const server = start({ ...transactionOf(database.url), DATABASE_URL: other.urlOf(database.url) });
    await expectWorking(await server.ready);
    expect(server.output()).not.toContain('lack settings');
    await stopServer(server);
    await other.stop();
  });
});
