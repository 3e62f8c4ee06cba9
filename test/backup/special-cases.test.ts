/** Backups and restores that are interrupted, files that come and go meanwhile, and backups of older versions. */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkBackup } from '../../src/backup/check-backup.ts';
import { restoreBackup } from '../../src/backup/restore-backup.ts';
import { writeBackup } from '../../src/backup/write-backup.ts';
import { applyMigrations } from '../../src/db/migrate.ts';
import { root } from '../client/packed-client.ts';
import { quietLog } from '../support/quiet-log.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase, startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
let dir: string;
beforeAll(async () => {
  app = await startTestApp({ hasOwnEvents: true });
  team = await addTeam(app);
  dir = await makeTempDir();
  await upload(app, team.path, team.owner.token);
});
afterAll(async () => {
  await app.close();
  await rm(dir, { recursive: true, force: true });
});

const never = new AbortController().signal;

function backUp(to: string, signal: AbortSignal, onStep: (step: string) => void | Promise<void>) {
  return writeBackup({
    connectionString: app.databaseUrl,
    filesRoot: app.filesDir,
    to: join(dir, to),
    log: quietLog,
    signal,
    onStep,
  });
}

test('a file that is added and deleted while the files are copied costs a second snapshot', async () => {
  const steps: string[] = [];
  let added = 0;
  const manifest = await backUp('busy', never, async (step) => {
    steps.push(step);
    const isFirst = steps.filter((one) => one === step).length === 1;
    if (!isFirst) return;
    if (step === 'Taking a snapshot') {
      added = (await upload(app, team.path, team.owner.token)).body.item.id;
      await upload(app, team.path, team.owner.token);
    }
    if (step === 'Copying new files') await app.http.delete(`${team.path}/library/${added}`, team.owner.token);
  });
  expect(steps.filter((step) => step === 'Taking a snapshot')).toHaveLength(2);
  expect(manifest).toMatchObject({ files: { count: 2 }, missing_files: [] });
  await checkBackup(join(dir, 'busy'), never);
});

test('a backup that is interrupted leaves nothing behind, also in the middle of a large table', async () => {
  await app.services.db.$executeRaw`
    insert into events (workspace_id, type, data, created_at)
    select ${team.id}, 'room.created', jsonb_build_object('text', repeat(md5(n::text), 300)), now()
    from generate_series(1, 800) n`;
  for (const at of ['Copying files', 'Reading events']) {
    const interruption = new AbortController();
    const writing = backUp('interrupted', interruption.signal, (step) => {
      // Later, so that the step has begun.
      if (step === at) setTimeout(() => interruption.abort(), 20);
    });
    await expect(writing, at).rejects.toThrow(/aborted/);
    expect((await readdir(dir)).filter((name) => name.startsWith('interrupted'))).toEqual([]);
  }
});

test('a backup contains no rows of unlogged tables', async () => {
  const { db } = app.services;
  await db.$executeRaw`insert into rate_limits values ('an address', 1, now())`;
  const manifest = await backUp('unlogged', never, () => {});
  const rows = Object.fromEntries(manifest.tables.map((table) => [table.name, table.rows]));
  expect(rows).toMatchObject({ meeting_pages: 0, meeting_signals: 0, rate_limits: 0 });
});

test('a restore that is interrupted leaves no rows and no files', async () => {
  const target = await createDatabase();
  const files = join(dir, 'restored-files');
  const manifest = await backUp('whole', never, () => {});
  const interruption = new AbortController();
  const options = {
    from: join(dir, 'whole'),
    connectionString: target.url,
    filesRoot: files,
    replace: false,
    log: quietLog,
    signal: interruption.signal,
  };
  const onStep = (step: string): void => {
    if (step === 'Writing events') interruption.abort(new Error('Interrupted'));
  };
  await expect(restoreBackup({ ...options, onStep }, manifest)).rejects.toThrow('Interrupted');
  expect((await readdir(dir)).filter((name) => name.startsWith('restored-files'))).toEqual([]);
  // It can be repeated.
  await restoreBackup({ ...options, signal: never, onStep: () => {} }, manifest);
  const [list = ''] = (await readFile(join(dir, 'whole/files.jsonl'), 'utf8')).split('\n');
  expect(await readdir(join(files, 'objects', JSON.parse(list).key, '..'))).toHaveLength(manifest.files?.count ?? 0);
  await target.drop();
});

test('the backup of an older version is restored with its tables, which the next start migrates', async () => {
  const [older, target] = [await createDatabase(), await createDatabase()];
  const names = (await readdir(join(root, 'prisma/migrations'))).filter((name) => /^\d/.test(name)).sort();
  const last = names.at(-2) ?? '';
  // The newest migration may add a table, which a backup of an older version does not know.
  for (const { url } of [older, target]) await runSql(url, 'drop schema public cascade; create schema public');
  await applyMigrations({ connectionString: older.url, upTo: last, log: quietLog });
  await runSql(
    older.url,
    "insert into users (name, email, password_hash, created_at) values ('A', 'a@x.org', '', now())",
  );
  const common = { filesRoot: join(dir, 'older-files'), log: quietLog, signal: never, onStep: () => {} };
  const from = join(dir, 'older');
  const manifest = await writeBackup({ ...common, connectionString: older.url, to: from });
  expect(manifest.migrations.at(-1)?.name).toBe(last);

  const options = { ...common, connectionString: target.url, from, replace: false };
  await restoreBackup(options, await checkBackup(from, never));
  await applyMigrations({ connectionString: target.url, log: quietLog });
  const applied = await runSql(target.url, 'select migration_name from _prisma_migrations order by 1');
  expect(applied.map((row) => row.migration_name)).toEqual(names);
  expect(await runSql(target.url, 'select id, email from users')).toEqual([{ id: 1, email: 'a@x.org' }]);
  await Promise.all([older.drop(), target.drop()]);
});

async function runSql(connectionString: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return (await client.query(sql).finally(() => client.end())).rows;
}
