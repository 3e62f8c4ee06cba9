/** A database and the store of its files belong together: separate stores on one database are refused. */
import { randomUUID } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { type Database, openDatabase } from '../../src/db/client.ts';
import { bindStore, OtherStoreError } from '../../src/storage/store-id.ts';
import { startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase, type TestDatabase } from '../support/test-app.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

// One test starts four processes.
vi.setConfig({ testTimeout: 10 * MINUTE_MS });
afterAll(() => vi.resetConfig());

let database: TestDatabase;
let db: Database;
let base: string;
beforeEach(async () => {
  database = await createDatabase();
  db = openDatabase({ connectionString: database.url, poolSize: 4, onError: () => {} });
  base = await makeTempDir();
});
afterEach(async () => {
  await db.$disconnect();
  await database.drop();
  await rm(base, { recursive: true, force: true });
});

async function bindDirectory(name: string, of: Database = db): Promise<void> {
  const root = join(base, name);
  await mkdir(root, { recursive: true });
  await bindStore(of, { kind: 'disk', root, signingSecret: 'a secret for tests only' });
}

function bindBucket(bucket: string, prefix?: string): Promise<void> {
  return bindStore(db, { kind: 's3', bucket, prefix, region: 'us-east-1' });
}

test('servers that share a directory start, also at the same moment', async () => {
  await Promise.all(Array.from({ length: 8 }, () => bindDirectory('shared')));
  await bindDirectory('shared');
  expect(await readdir(join(base, 'shared'))).toEqual(['store-id']);
});

test('of servers with separate directories that start at the same moment, one succeeds', async () => {
  const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => bindDirectory(name)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  expect(errors.every((error) => error instanceof OtherStoreError)).toBe(true);
});

test('a copied directory is the same store', async () => {
  await bindDirectory('original');
  await cp(join(base, 'original'), join(base, 'copy'), { recursive: true });
  await bindDirectory('copy');
});

test('a directory of another database is refused, until its store-id is removed', async () => {
  await bindDirectory('a');
  const other = await createDatabase();
  const otherDb = openDatabase({ connectionString: other.url, poolSize: 1, onError: () => {} });
  await expect(bindDirectory('a', otherDb)).rejects.toThrow(/contains the files of another database/);
  await rm(join(base, 'a', 'store-id'));
  await bindDirectory('a', otherDb);
  await otherDb.$disconnect();
  await other.drop();
});

test('a first start that was killed after any step is completed by the next, also of a copied directory', async () => {
  for (let steps = 0, isKilled = true; isKilled; steps += 1) {
    const killedDatabase = await createDatabase();
    const real = openDatabase({ connectionString: killedDatabase.url, poolSize: 1, onError: () => {} });
    const [name, copy] = [`killed-${steps}`, `copy-${steps}`];
    isKilled = await bindDirectory(name, failAfter(real, steps)).then(
      () => false,
      () => true,
    );
    await cp(join(base, name), join(base, copy), { recursive: true });
    const hasId = (await readdir(join(base, name))).includes('store-id');
    await bindDirectory(name, real);
    if (hasId) await bindDirectory(copy, real);
    await expect(bindDirectory(`other-${steps}`, real)).rejects.toThrow(/in a directory other than/);
    await expect(bindDirectory(name)).rejects.toThrow(/contains the files of another database/);
    await real.$disconnect();
    await killedDatabase.drop();
  }
});

test('a first start that was killed while it wrote the file is completed by the next', async () => {
  await mkdir(join(base, 'a'));
  await writeFile(join(base, 'a', `store-id.${randomUUID()}`), 'disk:');
  await bindDirectory('a');
});

test('after a first start that was killed, another directory can be used, and then the first is refused', async () => {
  await expect(bindDirectory('a', failAfter(db, 2))).rejects.toThrow('killed');
  await bindDirectory('b');
  await expect(bindDirectory('a')).rejects.toThrow(/in a directory other than/);
});

test('a server that is killed before its first start is recorded in the database starts again', async () => {
  const env = { DATABASE_URL: database.url, DATA_DIR: join(base, 'one') };
  const blocker = new pg.Client({ connectionString: database.url });
  await blocker.connect();
  await blocker.query('begin; lock table object_store_id in share row exclusive mode');
  const killed = startServer(env);
  const path = join(base, 'one', 'files', 'store-id');
  await expect.poll(() => readFile(path, 'utf8').catch(() => null), { timeout: MINUTE_MS }).not.toBeNull();
  await killed.end('SIGKILL');
  await blocker.query('commit');
  await blocker.end();
  await db.objectStoreId.deleteMany();
  const again = startServer(env);
  await again.ready;
  await stopServer(again);
});

/** A database whose statements fail after the first `count`, as if the process had been killed. */
function failAfter(real: Database, count: number): Database {
  let sent = 0;
  const countOne = (): void => {
    sent += 1;
    if (sent > count) throw new Error('killed');
  };
  const $allOperations = <Args>({ args, query }: { args: Args; query: (args: Args) => Promise<unknown> }) => {
    countOne();
    return query(args);
  };
  const run: Database['sql']['run'] = async (statement, params) => {
    countOne();
    return real.sql.run(statement, params);
  };
  const sql = { ...real.sql, run };
  // For queries an extended client is a client. Its type only lacks methods that are not used here.
  return Object.assign(real.$extends({ query: { $allOperations } }), { sql }) as unknown as Database;
}

test('another bucket or prefix, or a directory instead of a bucket, is refused, until the row is deleted', async () => {
  await bindBucket('files');
  await bindBucket('files');
  await expect(bindBucket('others')).rejects.toThrow('The files of this database are in s3:files/, not in s3:others/');
  await expect(bindBucket('files', 'prefix')).rejects.toThrow(OtherStoreError);
  await expect(bindDirectory('a')).rejects.toThrow('are in s3:files/, not in the directory');
  await db.objectStoreId.deleteMany();
  await bindDirectory('a');
  await expect(bindBucket('files')).rejects.toThrow('are in the DATA_DIR of a server, not in s3:files/');
});

test('a second server or worker with a data directory of its own exits with one line', async () => {
  const env = { DATABASE_URL: database.url, LOG_LEVEL: 'error' };
  const first = startServer({ ...env, LOG_LEVEL: 'info', DATA_DIR: join(base, 'one') });
  await first.ready;
  const refused = [
    startServer({ ...env, DATA_DIR: join(base, 'two') }),
    startWorkerProcess({ ...env, DATA_DIR: join(base, 'three') }),
  ];
  for (const process of refused) {
    expect(await process.ended).toBe(1);
    expect(process.output()).toMatch(
      /^The files of this database are in a directory other than .*: servers must share one, or use S3\. See .*\n$/,
    );
  }
  const sharing = startWorkerProcess({ ...env, LOG_LEVEL: 'info', DATA_DIR: join(base, 'one') });
  await sharing.ready;
  await sharing.end('SIGTERM');
  await stopServer(first);
});
