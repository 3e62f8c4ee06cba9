/** A bucket belongs to one database: nothing is restored to, or swept from, the bucket of another service. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import S3rver from 's3rver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { createS3Store } from '../../src/storage/s3-store.ts';
import { OTHER_OWNER } from '../../src/storage/store-owner.ts';
import { sweepStorage } from '../../src/storage/sweep.ts';
import { type CommandLine, createCommandLine } from '../cli/command-line.ts';
import { quietLog } from '../support/quiet-log.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase, startTestApp, type TestApp, type TestDatabase } from '../support/test-app.ts';
import { addTeam } from '../support/world.ts';

let app: TestApp;
let other: TestApp;
let target: TestDatabase;
let dir: string;
let cli: CommandLine;
let server: S3rver;
let endpoint: string;
beforeAll(async () => {
  [app, other] = [await startTestApp(), await startTestApp()];
  [target, dir] = [await createDatabase(), await makeTempDir()];
  await addTeam(app);
  cli = createCommandLine(dir);
  const configureBuckets = [{ name: 'files', configs: [] }];
  server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory: join(dir, 's3'), configureBuckets });
  endpoint = `http://127.0.0.1:${(await server.run()).port}`;
});
afterAll(async () => {
  await server.close();
  await Promise.all([app.close(), other.close(), target.drop()]);
  await rm(dir, { recursive: true, force: true });
});

const account = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

function openBucket(prefix: string) {
  const store = createS3Store({
    bucket: 'files',
    region: 'us-east-1',
    prefix,
    clock: systemClock,
    endpoint,
    forcePathStyle: true,
    ...account,
  });
  // s3rver has no list of unfinished uploads.
  return { ...store, removeStaleUploads: async () => {} };
}

function environment(databaseUrl: string, prefix: string): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    DATA_DIR: join(dir, 'data'),
    S3_BUCKET: 'files',
    S3_PREFIX: prefix,
    S3_ENDPOINT: endpoint,
    S3_ACCESS_KEY_ID: account.accessKeyId,
    S3_SECRET_ACCESS_KEY: account.secretAccessKey,
    S3_REGION: 'us-east-1',
  };
}

async function sweep({ services: { db } }: TestApp, prefix: string): Promise<unknown[]> {
  const errors: unknown[] = [];
  const log = { ...quietLog, error: (_: object, message: string) => void errors.push(message) };
  await sweepStorage({ db, store: openBucket(prefix), clock: systemClock, log });
  return errors;
}

test('the first sweep marks the bucket; no other database is restored to it or sweeps it', async () => {
  const backup = join(dir, 'backup');
  await cli.json(['backup', backup], { env: environment(app.databaseUrl, 'one') });
  expect(await sweep(app, 'one')).toEqual([]);
  expect(await sweep(app, 'one')).toEqual([]);

  const refused = await cli.run(['restore', backup], { env: environment(target.url, 'one') });
  expect(refused).toMatchObject({ status: 1, stderr: `${OTHER_OWNER}\n` });
  expect(await sweep(other, 'one')).toEqual([`The files are not swept. ${OTHER_OWNER}`]);
  const { stdout } = await cli.run(['doctor', '--json'], { env: environment(other.databaseUrl, 'one') });
  expect(stdout).toContain(JSON.stringify(OTHER_OWNER));
  const own = await cli.run(['doctor', '--json'], { env: environment(app.databaseUrl, 'one') });
  expect(own.stdout).not.toContain(JSON.stringify(OTHER_OWNER));

  // A prefix of its own is another bucket.
  await cli.json(['restore', backup], { env: environment(target.url, 'two') });
  expect(await sweep(other, 'two')).toEqual([]);
});
