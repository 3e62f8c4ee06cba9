/** `lynxroom backup` and `lynxroom restore` with the real server and its embedded PostgreSQL. */
import { createHash } from 'node:crypto';
import { appendFile, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, createClient } from '../../packages/client/src/index.ts';
import { checkBackup } from '../../src/backup/check-backup.ts';
import { type Content, createManifest, toText } from '../../src/backup/manifest.ts';
import { findRunningPostgres } from '../../src/db/embedded.ts';
import { type CommandLine, createCommandLine } from '../cli/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { makePdf } from '../support/media.ts';
import { type ServerProcess, startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase, startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam } from '../support/world.ts';

let dir: string;
let cli: CommandLine;
beforeAll(async () => {
  dir = await makeTempDir();
  cli = createCommandLine(dir);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

type Rows = Record<string, string[]>;

/** All rows of all tables as text, sorted. Jobs are not part of a backup, nor is when a migration was applied. */
async function readRows(url: string): Promise<Rows> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1",
    );
    const rows: Rows = {};
    for (const { name } of tables.rows) {
      const hidden = `{${name === '_prisma_migrations' ? 'id,started_at,finished_at' : 'job_id'}}`;
      const found = await client.query<{ row: string }>(
        `select (to_jsonb(t) - $1::text[])::text as row from "${name}" t order by 1`,
        [hidden],
      );
      rows[name] = found.rows.map(({ row }) => row);
    }
    return rows;
  } finally {
    await client.end();
  }
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return (await client.query(sql).finally(() => client.end())).rows;
}

/** The embedded PostgreSQL of a running server. */
async function databaseOf(dataDir: string): Promise<string> {
  const url = await findRunningPostgres(dataDir);
  if (url === null) throw new Error('No server is running');
  return url;
}

async function register(url: string): Promise<Client> {
  const client = createClient({ url });
  const { token } = await client.auth.register.mutate({
    name: 'Ada',
    email: 'ada@example.com',
    password: 'correct horse battery staple',
  });
  return createClient({ url, token });
}

/** Nothing listens at its URL, so its messages wait for the next attempt. */
async function addUnreachableWebhook(client: Client, id: number): Promise<void> {
  const url = `http://127.0.0.1:${await freePort()}/`;
  await client.webhooks.create.mutate({ id, name: 'Unreachable', url, events: ['room.created'] });
}

type Acknowledged = { rooms: string[]; items: number[]; deleted: number[] };

/** Writes until `stop`: rooms and files, of which every second one is deleted again. */
function startWriter(client: Client, workspaceId: number, name: string) {
  const acknowledged: Acknowledged = { rooms: [], items: [], deleted: [] };
  let isStopping = false;
  const write = async (): Promise<void> => {
    for (let count = 1; !isStopping; count += 1) {
      const room = `${name}-${count}`;
      await client.rooms.create.mutate({ workspace_id: workspaceId, name: room });
      acknowledged.rooms.push(room);
      const file = new Blob([Uint8Array.from(makePdf({}))], { type: 'application/pdf' });
      const item = await client.upload({ id: workspaceId, file, name: `${name}-${count}.pdf` });
      acknowledged.items.push(item.id);
      if (count % 2 === 0) {
        await client.library.delete.mutate({ id: workspaceId, itemId: item.id });
        acknowledged.deleted.push(item.id);
      }
    }
  };
  const writing = write();
  return {
    /** What was acknowledged so far. */
    snapshot: (): Acknowledged => structuredClone(acknowledged),
    stop: () => {
      isStopping = true;
      return writing;
    },
  };
}

async function listFiles(root: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    found.set(path.slice(root.length + 1), (await readFile(path)).toString('base64'));
  }
  return found;
}

describe('a backup of a running server', () => {
  let source: string;
  let target: string;
  let backup: string;
  let server: ServerProcess;
  let client: Client;
  let workspaceId: number;
  let before: Acknowledged[];
  /** May have been deleted before or after the snapshot. */
  let deletedLater: number[];
  beforeAll(async () => {
    [source, target, backup] = [join(dir, 'source'), join(dir, 'target'), join(dir, 'backup')];
    server = startServer({ DATA_DIR: source });
    client = await register(await server.ready);
    const { workspaces } = await client.workspaces.list.query({});
    workspaceId = workspaces[0]?.id ?? 0;
    await addUnreachableWebhook(client, workspaceId);

    const writers = ['one', 'two', 'three'].map((name) => startWriter(client, workspaceId, name));
    const isBusy = () => writers.every((writer) => writer.snapshot().items.length >= 5);
    await eventually(async () => isBusy());
    before = writers.map((writer) => writer.snapshot());
    await cli.json(['backup', backup], { env: { DATA_DIR: source } });
    await Promise.all(writers.map((writer) => writer.stop()));
    deletedLater = writers.flatMap((writer) => writer.snapshot().deleted);
    expect(writers.some((writer, index) => writer.snapshot().rooms.length > (before[index]?.rooms.length ?? 0))).toBe(
      true,
    );
  });
  afterAll(() => stopServer(server));

  test('is complete, and only its owner can read it', async () => {
    expect((await readdir(backup)).sort()).toEqual(['files', 'files.jsonl', 'manifest.json', 'tables']);
    expect((await stat(backup)).mode & 0o777).toBe(0o700);
    for (const path of (await listFiles(backup)).keys())
      expect([path, (await stat(join(backup, path))).mode & 0o777]).toEqual([path, 0o600]);
    expect((await readdir(dir)).filter((name) => name.includes('partial'))).toEqual([]);
  });

  test('is not restored while a server runs', async () => {
    const refused = await cli.run(['restore', backup, '--replace'], { env: { DATA_DIR: source } });
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(
      /^The data directory .* is in use by another server \(process \d+\): stop it first\n$/,
    );
  });

  test('restores everything that was acknowledged before it began', async () => {
    const restored = await cli.json(['restore', backup], { env: { DATA_DIR: target } });
    expect(restored.rows).toBeGreaterThan(50);
    // The key is not in the backup. The operator keeps it.
    await cp(join(source, 'encryption-key'), join(target, 'encryption-key'));
    const running = startServer({ DATA_DIR: target });
    try {
      const url = await running.ready;
      const database = await databaseOf(target);
      const { token } = await createClient({ url }).auth.login.mutate({
        email: 'ada@example.com',
        password: 'correct horse battery staple',
      });
      const restoredClient = createClient({ url, token });
      const { rooms } = await restoredClient.rooms.listInWorkspace.query({ id: workspaceId });
      const names = new Set(rooms.map(({ name }) => name));
      for (const name of before.flatMap((writer) => writer.rooms)) expect(names.has(name)).toBe(true);
      const items = await query(database, 'select id, file_key from library_items');
      const ids = new Set(items.map(({ id }) => Number(id)));
      for (const { items: uploaded, deleted } of before) {
        for (const id of uploaded) if (!deletedLater.includes(id)) expect([id, ids.has(id)]).toEqual([id, true]);
        for (const id of deleted) expect([id, ids.has(id)]).toEqual([id, false]);
      }
      for (const { file_key: key } of items) {
        const path = join(target, 'files/objects', String(key));
        expect((await readFile(path)).subarray(0, 5).toString()).toBe('%PDF-');
      }
      // The invariants that triggers and constraints maintain.
      const [counters] = await query(
        database,
        `select w.library_item_count::int = (select count(*) from library_items i where i.workspace_id = w.id) as items,
          w.stored_bytes = (select sum(size) from library_items i where i.workspace_id = w.id) as bytes,
          w.room_count + coalesce((select sum(amount) from counter_changes c where c.workspace_id = w.id
            and c.counter = 'rooms'), 0) = (select count(*) from rooms r where r.workspace_id = w.id) as rooms
         from workspaces w where id = ${workspaceId}`,
      );
      expect(counters).toEqual({ items: true, bytes: true, rooms: true });
      // Ids go on after the restored ones, and sealed secrets can be opened with the key.
      const room = await restoredClient.rooms.create.mutate({ workspace_id: workspaceId, name: 'after' });
      expect(room.room.id).toBeGreaterThan(Math.max(...rooms.map(({ id }) => id)));
      const { webhooks } = await restoredClient.webhooks.list.query({ id: workspaceId });
      const webhookId = webhooks[0]?.id ?? 0;
      // Waiting messages are attempted again, although their jobs are in no queue.
      await expect
        .poll(async () =>
          query(
            database,
            `select from webhook_messages where webhook_id = ${webhookId}
          and status = 'waiting' and job_id is null and after_id is null`,
          ),
        )
        .toEqual([]);
    } finally {
      await stopServer(running);
    }
  });
});

describe('a backup of a database of its own', () => {
  let app: TestApp;
  let env: Record<string, string>;
  let backup: string;
  let targets: { url: string; drop(): Promise<void> }[];
  beforeAll(async () => {
    targets = [];
    app = await startTestApp();
    const team = await addTeam(app);
    const { client } = team.owner;
    await client.labels.create.mutate({ id: team.id, name: 'Zürich "quoted" \\N \\. 日本' });
    await client.apiKeys.create.mutate({ id: team.id, name: 'Key' });
    await addUnreachableWebhook(client, team.id);
    const writer = startWriter(client, team.id, 'row');
    await eventually(async () => writer.snapshot().items.length > 3);
    await writer.stop();
    env = { DATABASE_URL: app.databaseUrl, DATA_DIR: dirname(app.filesDir) };
    backup = join(dir, 'external');
    await cli.json(['backup', backup], { env });
  });
  afterAll(async () => {
    await Promise.all(targets.map((target) => target.drop()));
    await app.close();
  });

  /** An empty database, with the tables of the service, and a directory for the files. */
  async function addTarget(name: string) {
    const database = await createDatabase();
    targets.push(database);
    return { DATABASE_URL: database.url, DATA_DIR: join(dir, name) };
  }

  test('is restored row by row and file by file, and may be restored over another one only if told so', async () => {
    const target = await addTarget('equal');
    await cli.json(['restore', backup], { env: target });
    const rows = await readRows(app.databaseUrl);
    expect(await readRows(target.DATABASE_URL)).toEqual(rows);
    for (const name of ['users', 'members', 'labels', 'api_keys', 'webhooks', 'rooms', 'library_items', 'events'])
      expect([name, rows[name]?.length]).toEqual([name, expect.toSatisfy((count) => count > 0)]);
    const files = await listFiles(join(app.filesDir, 'objects'));
    expect(files.size).toBeGreaterThan(1);
    expect(await listFiles(join(target.DATA_DIR, 'files/objects'))).toEqual(files);

    const refused = await cli.run(['restore', backup], { env: target });
    expect([refused.status, refused.stderr]).toEqual([
      1,
      'The database is not empty: use --replace to delete everything in it\n',
    ]);
    await writeFile(join(target.DATA_DIR, 'files/objects/leftover'), 'x');
    await query(target.DATABASE_URL, 'delete from events');
    await cli.json(['restore', backup, '--replace'], { env: target });
    expect(await readRows(target.DATABASE_URL)).toEqual(rows);
    expect(await listFiles(join(target.DATA_DIR, 'files/objects'))).toEqual(files);
    expect(await readdir(target.DATA_DIR)).toEqual(['files']);
  });

  test('is restored neither to a database in use, nor to that of another program, nor over files', async () => {
    const target = await addTarget('files-only');
    const user = new pg.Client({ connectionString: target.DATABASE_URL });
    await user.connect();
    const inUse = await cli.run(['restore', backup, '--replace'], { env: target });
    expect([inUse.status, inUse.stderr]).toEqual([
      1,
      expect.stringMatching(/Other connections to the database: 1\. Stop all serv/),
    ]);
    await user.end();

    await mkdir(join(target.DATA_DIR, 'files/objects'), { recursive: true });
    await writeFile(join(target.DATA_DIR, 'files/objects/file'), 'x');
    expect((await cli.run(['restore', backup], { env: target })).stderr).toMatch(/files is not empty: use --replace/);

    await query(target.DATABASE_URL, 'drop schema public cascade; create schema public; create table invoices ()');
    const foreign = await cli.run(['restore', backup, '--replace'], { env: target });
    expect([foreign.status, foreign.stderr]).toEqual([1, 'The database has tables of another program\n']);
  });

  test('a restore that fails leaves the files as they were, and no rows', async () => {
    const target = await addTarget('failing');
    await mkdir(join(target.DATA_DIR, 'files/objects'), { recursive: true });
    await writeFile(join(target.DATA_DIR, 'files/objects/old'), 'old');
    const broken = join(dir, 'broken');
    await cp(backup, broken, { recursive: true });
    // A backup whose hashes are right, but whose rows violate a foreign key.
    const path = join(broken, 'tables/members.copy.gz');
    const rows = gzipSync(
      gunzipSync(await readFile(path))
        .toString()
        .replaceAll(/^(\d+)\t\d+\t/gm, '$1\t999999\t'),
    );
    await writeFile(path, rows);
    await changeManifest(broken, ({ tables }) => {
      const members = tables.find(({ name }) => name === 'members') ?? {};
      Object.assign(members, { bytes: rows.length, sha256: createHash('sha256').update(rows).digest('hex') });
    });

    const { status, stderr } = await cli.run(['restore', broken, '--replace'], { env: target });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^The rows of members could not be written: .*\n$/)]);
    expect((await listFiles(join(target.DATA_DIR, 'files'))).size).toBe(1);
    expect(await readdir(target.DATA_DIR)).toEqual(['files']);
    expect(await query(target.DATABASE_URL, 'select from users')).toEqual([]);
  });

  test('is refused if any part was changed or is missing, before anything is written', async () => {
    const damage: [string, RegExp, (copy: string) => Promise<unknown>][] = [
      ['table', /tables\/rooms\.copy\.gz was changed/, (copy) => appendFile(join(copy, 'tables/rooms.copy.gz'), 'x')],
      ['missing', /rooms\.copy\.gz is missing/, (copy) => rm(join(copy, 'tables/rooms.copy.gz'))],
      ['list', /files\.jsonl was changed/, (copy) => appendFile(join(copy, 'files.jsonl'), '{}\n')],
      ['file', /files\/v1\/.* was changed/, (copy) => damageFile(copy)],
      ['manifest', /manifest\.json is damaged/, (copy) => writeFile(join(copy, 'manifest.json'), '{}')],
      ['time', /manifest\.json is damaged: it was changed/, (copy) => replaceInManifest(copy, /"20\d\d/, '"1999')],
      ['space', /manifest\.json is damaged: it was changed/, (copy) => replaceInManifest(copy, /\n$/, '\n\n')],
      ['format', /manifest\.json is damaged/, (copy) => replaceInManifest(copy, /"format": 2/, '"format": 1')],
      ['incomplete', /not a complete backup/, (copy) => rm(join(copy, 'manifest.json'))],
      ['newer', /has the migration 29990101000000_later.*newer version/, (copy) => addLaterMigration(copy)],
    ];
    for (const [what, message, spoil] of damage) {
      const copy = join(dir, `copy-${what}`);
      await cp(backup, copy, { recursive: true });
      await spoil(copy);
      await expect(checkBackup(copy, new AbortController().signal), what).rejects.toThrow(message);
    }
    const target = { DATA_DIR: join(dir, 'never') };
    const { status, stderr } = await cli.run(['restore', join(dir, 'copy-file')], { env: target });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^The backup is damaged: \S+ was changed\n$/)]);
    await expect(readdir(target.DATA_DIR)).rejects.toThrow('ENOENT');
  });

  test('reports files that the store has lost, and refuses a store that is missing', async () => {
    const [key = ''] = (await listFiles(join(app.filesDir, 'objects'))).keys();
    await rm(join(app.filesDir, 'objects', key));
    const lossy = join(dir, 'lossy');
    const { stderr, status } = await cli.run(['backup', lossy], { env });
    expect([status, stderr]).toEqual([0, expect.stringContaining(`the file ${key} is missing from the store`)]);
    expect((await cli.run(['backup', lossy], { env })).stderr).toBe(`${lossy} exists and is not empty\n`);
    await rm(join(app.filesDir, 'objects'), { recursive: true });
    const unmounted = await cli.run(['backup', join(dir, 'unmounted')], { env });
    expect(unmounted.stderr).toContain('The directory of the files is missing');
    expect((await readdir(dir)).filter((name) => name.startsWith('unmounted'))).toEqual([]);
  });

  async function damageFile(copy: string): Promise<void> {
    const [key = ''] = (await listFiles(join(copy, 'files'))).keys();
    await appendFile(join(copy, 'files', key), 'x');
  }

  async function addLaterMigration(copy: string): Promise<void> {
    await changeManifest(copy, ({ migrations }) => {
      migrations.push({ name: '29990101000000_later', checksum: 'x' });
    });
  }

  /** Changes a manifest together with its own hash. */
  async function changeManifest(copy: string, change: (content: Content) => void): Promise<void> {
    const { format, sha256, ...content } = JSON.parse(await readFile(join(copy, 'manifest.json'), 'utf8'));
    change(content);
    await writeFile(join(copy, 'manifest.json'), toText(createManifest(content)));
  }

  async function replaceInManifest(copy: string, from: RegExp, to: string): Promise<void> {
    const text = await readFile(join(copy, 'manifest.json'), 'utf8');
    expect(text).toMatch(from);
    await writeFile(join(copy, 'manifest.json'), text.replace(from, to));
  }
});
