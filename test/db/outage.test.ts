/**
 * A database that is away, restarting, full or locked: every form of the failure is 503, and the statement may be
 * retried.
 */
import { createServer } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/db/client.ts';
import { isUnavailable } from '../../src/db/errors.ts';
import { fromUnexpected } from '../../src/trpc/errors.ts';
import { createDatabase } from '../support/test-app.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let db: Database;
let admin: pg.Client;

function open(connectionString: string): Database {
  return openDatabase({ connectionString, poolSize: 1, poolTimeoutMs: 500, onError: () => {} });
}

beforeAll(async () => {
  database = await createDatabase();
  db = open(database.url);
  admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await db.$disconnect();
  await database.drop();
});

/** Each way in which the code reaches the database. */
const ways: Record<string, (of: Database) => Promise<unknown>> = {
  'a query': (of) => of.user.count(),
  'our own SQL': (of) => of.$queryRaw`select count(*) from users`,
  'a transaction': (of) => of.$transaction((tx) => tx.user.count()),
};

async function expectUnavailable(work: Promise<unknown>): Promise<void> {
  const error = await work.then(
    () => 'done',
    (cause: unknown) => cause,
  );
  expect(isUnavailable(error), String(error)).toBe(true);
  expect(fromUnexpected(error)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 2 });
}

test.each(Object.entries(ways))('%s while nothing listens', async (_, way) => {
  const nobody = createServer();
  await new Promise<void>((resolve) => nobody.listen(0, '127.0.0.1', resolve));
  const { port } = nobody.address() as { port: number }; // It listens on TCP.
  await new Promise((resolve) => nobody.close(resolve));
  const away = open(`postgresql://postgres:password@127.0.0.1:${port}/none`);
  await expectUnavailable(way(away));
  await away.$disconnect();
});

test.each(Object.entries(ways))('%s of a server that accepts and says nothing', async (_, way) => {
  const sockets = new Set<{ destroy(): void }>();
  const silent = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number }; // It listens on TCP.
  const away = open(`postgresql://postgres:password@127.0.0.1:${port}/none`);
  await expectUnavailable(way(away));
  await away.$disconnect();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => silent.close(resolve));
});

test('a connection that the server ends in the middle of a statement, or of a transaction', async () => {
  const endAll = () =>
    admin.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = $1',
      [new URL(database.url).pathname.slice(1)],
    );
  const cutWhile = async (work: (started: () => void) => Promise<unknown>): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const failed = expectUnavailable(work(resolve));
    await promise;
    await endAll();
    await failed;
  };
  await cutWhile((started) => {
    setTimeout(started, 200);
    return db.$queryRaw`select pg_sleep(20)`;
  });
  await cutWhile((started) =>
    db.$transaction(async (tx) => {
      await tx.user.count();
      started();
      for (;;) await tx.user.count();
    }),
  );
  // The pool replaces what was ended.
  expect(await db.user.count()).toBe(0);
});

test.each(Object.entries(ways))('%s on a table that somebody else holds, past the lock timeout', async (_, way) => {
  const url = new URL(database.url);
  url.searchParams.set('application_name', 'impatient');
  const impatient = open(url.href);
  await impatient.$executeRaw`set lock_timeout = 100`;
  await admin.query('begin; lock table users');
  try {
    await expectUnavailable(way(impatient));
  } finally {
    await admin.query('rollback');
    await impatient.$disconnect();
  }
});

test.each(['53100', '53200', '53300', '57P01', '57P03', '57014', '08006', '55P03'])('SQLSTATE %s', async (code) => {
  const raise = `do $$ begin raise exception 'as PostgreSQL would' using errcode = '${code}'; end $$`;
  await expectUnavailable(db.$executeRawUnsafe(raise));
  await expectUnavailable(db.$transaction((tx) => tx.$executeRawUnsafe(raise)));
});

test.each(['22012', '23505', '42601', '42P01', 'XX000'])('SQLSTATE %s is not an outage', async (code) => {
  const raise = `do $$ begin raise exception 'as PostgreSQL would' using errcode = '${code}'; end $$`;
  const error = await db.$executeRawUnsafe(raise).catch((cause: unknown) => cause);
  expect(isUnavailable(error)).toBe(false);
  expect(fromUnexpected(error)).toMatchObject({ code: 'INTERNAL_SERVER_ERROR' });
});
