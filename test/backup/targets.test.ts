/** What a restore replaces, what a backup must not replace, and links to other disks. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkBackup } from '../../src/backup/check-backup.ts';
import type { Manifest } from '../../src/backup/manifest.ts';
import { restoreBackup } from '../../src/backup/restore-backup.ts';
import { writeBackup } from '../../src/backup/write-backup.ts';
import type { Log } from '../../src/core/log.ts';
import { root } from '../client/packed-client.ts';
import { quietLog } from '../support/quiet-log.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase, startTestApp, type TestApp, type TestDatabase } from '../support/test-app.ts';
import { addTeam, upload } from '../support/world.ts';

let app: TestApp;
let target: TestDatabase;
let dir: string;
let from: string;
let manifest: Manifest;
beforeAll(async () => {
  app = await startTestApp();
  const team = await addTeam(app);
  await upload(app, team.path, team.owner.token);
  target = await createDatabase();
  dir = await makeTempDir();
  from = join(dir, 'backup');
  manifest = await backUp(from);
});
afterAll(async () => {
  await target.drop();
  await app.close();
  // Node cannot remove the deep directories below.
  spawnSync('rm', ['-rf', dir]);
});

const signal = new AbortController().signal;

function backUp(to: string, onStep: (step: string) => void | Promise<void> = () => {}): Promise<Manifest> {
  const { databaseUrl: connectionString, filesDir: filesRoot } = app;
  return writeBackup({ connectionString, filesRoot, to, log: quietLog, signal, onStep });
}

type Options = { replace?: boolean; log?: Log; connectionString?: string };

async function restore(filesRoot: string, options: Options = {}): Promise<void> {
  const { replace = true, log = quietLog, connectionString = target.url } = options;
  const all = { from, connectionString, filesRoot, replace, log, signal, onStep: () => {} };
  await restoreBackup(all, await checkBackup(from, signal));
}

async function query(connectionString: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return (await client.query(sql).finally(() => client.end())).rows;
}

async function listKeys(files: string): Promise<string[]> {
  const found = await readdir(join(files, 'objects'), { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map(({ name }) => name);
}

test('the database of another program that uses Prisma is left alone', async () => {
  await query(
    target.url,
    `drop schema public cascade; create schema public; create table "User" (id int); insert into "User" values (1);
     create table _prisma_migrations (migration_name text, checksum text);
     insert into _prisma_migrations values ('20240101000000_init', 'abc')`,
  );
  for (const replace of [false, true])
    await expect(restore(join(dir, 'foreign'), { replace })).rejects.toThrow('tables of another program');
  expect(await query(target.url, 'select id from "User"')).toEqual([{ id: 1 }]);
});

test('a restore that was killed just before its first migration can be repeated', async () => {
  await query(
    target.url,
    `drop schema public cascade; create schema public;
     create table _prisma_migrations (migration_name text, checksum text)`,
  );
  await restore(join(dir, 'repeated'), { replace: false });
  expect(await query(target.url, 'select from users')).not.toEqual([]);
});

test('a server that uses another role is noticed', async () => {
  const server = new pg.Client({ connectionString: target.superuserUrl });
  await server.connect();
  await expect(restore(join(dir, 'in-use'))).rejects.toThrow('Other connections to the database: 1');
  await server.end();
});

test('the restored files stay, also if the old ones cannot be removed', async () => {
  const files = join(dir, 'stuck');
  // A path that is longer than the system allows.
  const [upper, lower] = ['a', 'b'].map((letter) => Array.from({ length: 12 }, () => letter.repeat(200)).join('/'));
  await mkdir(join(files, `${upper}`), { recursive: true });
  await mkdir(join(dir, 'lower', `${lower}`), { recursive: true });
  await rename(join(dir, 'lower'), join(files, `${upper}/lower`));
  const warnings: unknown[] = [];
  await restore(files, { log: { ...quietLog, warn: (fields, message) => warnings.push([fields, message]) } });
  expect(warnings).toEqual([
    [{ reason: expect.stringContaining('ENAMETOOLONG') }, expect.stringContaining('old files could not be removed')],
  ]);
  expect(await listKeys(files)).toHaveLength(manifest.files?.count ?? 0);
  expect(await query(target.url, 'select from users')).not.toEqual([]);
});

test('tables of another program are deleted only with --replace', async () => {
  const shared = await createDatabase();
  await restore(join(dir, 'beside'), { connectionString: shared.url });
  await query(shared.url, 'delete from workspaces; delete from users');
  await query(shared.url, 'create table orders (id int)');
  const refused = restore(join(dir, 'not-beside'), { connectionString: shared.url, replace: false });
  await expect(refused).rejects.toThrow('The database has other tables (orders): use --replace');
  expect(await query(shared.url, 'select from orders')).toEqual([]);
  await restore(join(dir, 'beside'), { connectionString: shared.url });
  expect(await query(shared.url, "select to_regclass('orders') as found")).toEqual([{ found: null }]);
  await shared.drop();
});

test.each([
  ['was committed', 'COMMIT', true],
  ['was not', 'ABORT ', false],
])('after a COMMIT without an answer, the files follow the rows: it %s', async (_, sent, isRestored) => {
  const lost = await createDatabase();
  const files = join(dir, `lost-${sent.trim()}`);
  await mkdir(join(files, 'objects'), { recursive: true });
  await writeFile(join(files, 'objects', 'old'), 'old');
  const proxy: TcpProxy = await startTcpProxy(lost.url, (chunk) => {
    if (!chunk.includes('COMMIT\0') || !hasRows) return chunk;
    // The answer is swallowed.
    proxy.forgetConnections();
    setTimeout(() => proxy.resetConnections(), 300);
    return Buffer.from(chunk.toString('latin1').replace('COMMIT\0', `${sent}\0`), 'latin1');
  });
  let hasRows = false;
  const options = { from, connectionString: proxy.url, filesRoot: files, replace: true, log: quietLog, signal };
  const onStep = (step: string): void => {
    if (step.startsWith('Writing users')) hasRows = true;
  };
  const restoring = restoreBackup({ ...options, onStep }, manifest);
  if (isRestored) await restoring;
  else await expect(restoring).rejects.toThrow(/connection|ECONNRESET/i);
  expect(await listKeys(files)).toEqual(isRestored ? expect.not.arrayContaining(['old']) : ['old']);
  expect((await query(lost.url, 'select from users')).length > 0).toBe(isRestored);
  expect((await readdir(dir)).filter((name) => /lost-.*\.(replaced|restored)-/.test(name))).toEqual([]);
  await proxy.close();
  await lost.drop();
});

test('a directory of files that is a link stays one', async () => {
  const [disk, files] = [join(dir, 'disk'), join(dir, 'link')];
  await mkdir(join(disk, 'objects'), { recursive: true });
  await writeFile(join(disk, 'objects/old'), 'old');
  await symlink(disk, files);
  await restore(files);
  expect((await lstat(files)).isSymbolicLink()).toBe(true);
  expect(await listKeys(disk)).toHaveLength(manifest.files?.count ?? 0);
  expect(
    (await readdir(dir)).filter((name) => /\.(?:replaced|restored)-/.test(name) && !name.startsWith('stuck')),
  ).toEqual([]);
});

test('a backup replaces nothing that was written meanwhile, such as another backup', async () => {
  const to = join(dir, 'shared');
  const write = async (step: string): Promise<void> => {
    if (step !== 'Finishing') return;
    await mkdir(to);
    await writeFile(join(to, 'manifest.json'), 'of the other');
  };
  await expect(backUp(to, write)).rejects.toThrow(`${to} exists and is not empty`);
  expect(await readFile(join(to, 'manifest.json'), 'utf8')).toBe('of the other');
  expect((await readdir(dir)).filter((name) => name.startsWith('shared'))).toEqual(['shared']);
  await rm(join(to, 'manifest.json'));
  await backUp(to);
  await checkBackup(to, signal);
});

test('a backup to a link goes where the link leads', async () => {
  const [disk, to] = [join(dir, 'other-disk'), join(dir, 'to')];
  await mkdir(disk);
  await symlink(disk, to);
  await backUp(to);
  expect((await lstat(to)).isSymbolicLink()).toBe(true);
  expect(existsSync(join(disk, 'manifest.json'))).toBe(true);
});

test('a backup is written into an empty directory that exists, which stays the same directory', async () => {
  const [existing, link] = [join(dir, 'existing'), join(dir, 'link-to-existing')];
  await mkdir(join(existing, 'lost+found'), { recursive: true });
  await symlink(existing, link);
  const { ino } = await lstat(existing);
  await backUp(link);
  expect((await lstat(existing)).ino).toBe(ino);
  expect((await lstat(existing)).mode & 0o777).toBe(0o700);
  expect((await readdir(existing)).sort()).toEqual(['files', 'files.jsonl', 'lost+found', 'manifest.json', 'tables']);
  await checkBackup(link, signal);
  await expect(backUp(link)).rejects.toThrow('existing exists and is not empty');

  const shared = join(dir, 'shared-directory');
  await mkdir(shared);
  const writing = backUp(shared, async (step) => {
    if (step === 'Finishing') await writeFile(join(shared, 'of-another-program'), '');
  });
  await expect(writing).rejects.toThrow('shared-directory exists and is not empty');
  expect(await readdir(shared)).toEqual(['of-another-program']);
});

const canMount = spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs none /mnt']).status === 0;

test.skipIf(!canMount)('a backup is written to a disk of its own, mounted where the backup goes', async () => {
  const mounted = join(dir, 'mounted');
  await mkdir(mounted);
  const command = `mount -t tmpfs none ${mounted} && ${process.execPath} src/lynxroom.ts backup ${mounted} --json
    ls -A ${mounted}`;
  const { stdout, stderr, status } = spawnSync('unshare', ['-m', 'sh', '-ec', command], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, DATABASE_URL: app.databaseUrl, DATA_DIR: join(app.filesDir, '..') },
  });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(stdout.trim().split('\n').slice(1)).toEqual(['files', 'files.jsonl', 'manifest.json', 'tables']);
});
