/**
 * docs/upgrading.md. Its commands for systemd are run as printed, in directories of the test, with two programs
 * replaced: `git` copies this checkout, and `systemctl` starts and stops the commands of the units.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { createCommandLine } from '../cli/command-line.ts';
import { readPages } from '../docs/pages.ts';
import { type ScriptProcess, startCommand } from '../support/script-process.ts';
import { startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase, type TestDatabase } from '../support/test-app.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const PASSWORD = 'correct horse battery staple';
/** A backup of a server of release 0.2.0, by its own command, and the encryption key of that server. */
const RELEASE_0_2_0 = new URL('./fixtures/release-0.2.0.tar.gz', import.meta.url);

let dir: string;
beforeAll(async () => {
  dir = await makeTempDir();
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function query(connectionString: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString });
  await client.connect();
  return (await client.query(sql).finally(() => client.end())).rows;
}

async function signIn(url: string) {
  const { token } = await createClient({ url }).auth.login.mutate({ email: 'ada@example.com', password: PASSWORD });
  return createClient({ url, token });
}

/** The command of the page "Upgrade and roll back" that contains this text. */
function findBlock(text: string): string {
  const { blocks = [] } = readPages().find(({ path }) => path === 'docs/upgrading.md') ?? {};
  const found = blocks.filter(({ code }) => code.includes(text));
  expect(found).toHaveLength(1);
  return found[0]?.code ?? '';
}

test('a database of release 0.2.0 is upgraded at start with its data, and goes back to its backup', async () => {
  const [source, dataDir] = [join(dir, 'release'), join(dir, 'data')];
  await mkdir(source);
  spawnSync('tar', ['-xzf', fileURLToPath(RELEASE_0_2_0), '-C', source]);
  const cli = createCommandLine(dir);
  const env = { DATA_DIR: dataDir };
  await cli.json(['restore', join(source, 'backup')], { env });
  await cp(join(source, 'encryption-key'), join(dataDir, 'encryption-key'));
  const { migrations, tables } = JSON.parse(await readFile(join(source, 'backup/manifest.json'), 'utf8'));
  const readMigrations = async (): Promise<string> =>
    (await cli.run(['db', 'psql', '--', '-Atc', 'select count(*) from _prisma_migrations'], { env })).stdout.trim();
  const hasPsql = spawnSync('sh', ['-c', 'command -v psql']).status === 0;
  if (hasPsql) expect(await readMigrations()).toBe(String(migrations.length));

  // The step before the upgrade. The command of a newer version reads the older tables, too.
  const saved = await cli.json(['backup', join(dir, 'before')], { env });
  expect(saved.tables).toBe(tables.length);
  const server = startServer(env);
  try {
    const client = await signIn(await server.ready);
    const id = 3;
    const { rooms } = await client.rooms.listInWorkspace.query({ id });
    expect(rooms.map(({ name }) => name).sort()).toEqual(['retro', 'sincere-seal', 'stand-up']);
    const { items } = await client.library.list.query({ id });
    expect(items).toMatchObject([{ name: 'Contract.pdf', size: 627, labels: [{ name: 'Contracts' }] }]);
    const { contacts } = await client.contacts.list.query({ id });
    expect(contacts).toMatchObject([{ name: 'Grace', email: 'grace@example.com' }]);
    const { bookings } = await client.bookings.list.query({ id });
    expect(bookings).toMatchObject([{ name: 'Grace', title: 'Intro', room_name: 'sincere-seal' }]);
    const { webhooks } = await client.webhooks.list.query({ id });
    expect(webhooks).toMatchObject([{ name: 'CRM' }]);
    // The key of 0.2.0 opens the secret, and new rows have what later versions added.
    await client.webhooks.rotateSecret.mutate({ id, webhookId: 1 });
    await client.rooms.create.mutate({ workspace_id: id, name: 'after' });
  } finally {
    await stopServer(server);
  }
  if (hasPsql) expect(Number(await readMigrations())).toBeGreaterThan(migrations.length);

  await cli.json(['restore', join(dir, 'before'), '--replace'], { env });
  if (hasPsql) expect(await readMigrations()).toBe(String(migrations.length));
  await cli.json(['backup', join(dir, 'after')], { env });
  const [before, after] = await Promise.all(
    ['before', 'after'].map(async (name) => JSON.parse(await readFile(join(dir, name, 'manifest.json'), 'utf8'))),
  );
  const rowsOf = ({ tables: all }: typeof before) =>
    all.map(({ name, rows }: { name: string; rows: number }) => [name, rows]);
  expect(rowsOf(after)).toEqual(rowsOf(before));
  expect(after.migrations).toEqual(before.migrations);
});

describe('the commands for systemd', () => {
  const OLD = '/opt/lynxroom-0.2.0';
  let database: TestDatabase;
  let machine: string;
  const running = new Map<string, ScriptProcess<string>>();
  beforeAll(async () => {
    database = await createDatabase();
    machine = join(dir, 'machine');
    for (const path of ['opt', 'etc/systemd/system', 'var/lib/lynxroom', 'var/backups/lynxroom', 'bin'])
      await mkdir(join(machine, path), { recursive: true });
    await installVersion(join(machine, OLD));
    await symlink(join(machine, OLD), join(machine, 'opt/lynxroom'));
    await writeFile(
      join(machine, 'etc/lynxroom.env'),
      `DATABASE_URL=${database.url}\nENCRYPTION_KEY=${randomBytes(32).toString('base64')}\n`,
    );
    await addPrograms();
  });
  afterAll(async () => {
    for (const unit of [...running.keys()]) await stop(unit);
    await database.drop();
  });

  async function installVersion(target: string): Promise<void> {
    await mkdir(target, { recursive: true });
    for (const name of await readdir(root)) {
      if (name === 'prisma' || name.startsWith('.')) continue;
      await symlink(join(root, name), join(target, name));
    }
    await cp(join(root, 'prisma'), join(target, 'prisma'), { recursive: true });
    // Node resolves links, so the sources must be in the directory for it to have migrations of its own.
    for (const name of ['src', 'deploy', 'package.json']) {
      await rm(join(target, name));
      await cp(join(root, name), join(target, name), { recursive: true });
    }
  }

  /** Programs that record how they are called, in place of those that need a network, root or a service manager. */
  async function addPrograms(): Promise<void> {
    const node = `exec ${process.execPath} "$@"`;
    const programs = {
      git: 'mkdir "$3"',
      // The packages and the console of this checkout are there already.
      node: `case "$1" in scripts/*) ;; *) ${node} ;; esac`,
      systemctl: '',
      lynxroom: `set -a; . ${machine}/etc/lynxroom.env; DATA_DIR=${machine}/var/lib/lynxroom
        cd ${machine}/opt/lynxroom; exec ${process.execPath} src/lynxroom.ts "$@"`,
    };
    for (const [name, code] of Object.entries(programs)) {
      const record = `echo "${name} $*" >>${machine}/calls`;
      await writeFile(join(machine, 'bin', name), `#!/bin/sh\n${record}\n${code}\n`, { mode: 0o755 });
    }
  }

  /** Runs the lines of a block, and resolves with the calls of the programs above. */
  async function runBlock(code: string): Promise<string[]> {
    await rm(join(machine, 'calls'), { force: true });
    const placed = code.replaceAll(/(?<=^|[\s=])\/(?=opt|etc|var)/gm, `${machine}/`);
    const { status, stderr } = spawnSync('bash', ['-eu', '-c', placed], {
      env: { PATH: `${join(machine, 'bin')}:${process.env.PATH}`, HOME: machine },
      cwd: machine,
      encoding: 'utf8',
    });
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
    const calls = existsSync(join(machine, 'calls')) ? await readFile(join(machine, 'calls'), 'utf8') : '';
    return calls.replaceAll(machine, '').trim().split('\n');
  }

  /** Starts the command of a unit in its working directory, as systemd does. */
  async function start(unit: string, name = unit): Promise<string> {
    const text = await readFile(join(root, `deploy/${unit}.service`), 'utf8');
    const [, args = ''] = /^ExecStart=\/usr\/bin\/node (.+)$/m.exec(text) ?? [];
    const [, workingDirectory = ''] = /^WorkingDirectory=(.+)$/m.exec(text) ?? [];
    const cwd = await realpath(join(machine, workingDirectory));
    const settings = await readFile(join(machine, 'etc/lynxroom.env'), 'utf8');
    const lines = settings.trim().split('\n');
    const env = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    const child = startCommand(
      [process.execPath, ...args.split(' ')] as [string, ...string[]],
      { ...env, NODE_ENV: 'production', CONSOLE: '0', PORT: '0', DATA_DIR: join(machine, 'var/lib/lynxroom') },
      (output) => /"url":"(http:[^"]+)"/.exec(output)?.[1] ?? (/worker is running/i.test(output) ? '' : undefined),
      cwd,
    );
    running.set(name, child);
    return child.ready;
  }

  async function stop(name: string): Promise<void> {
    await running.get(name)?.end('SIGTERM');
    running.delete(name);
  }

  test('upgrade to a version with a migration, and roll back from it', async () => {
    const url = await start('lynxroom');
    await createClient({ url }).auth.register.mutate({ name: 'Ada', email: 'ada@example.com', password: PASSWORD });
    const client = await signIn(url);
    const { workspaces } = await client.workspaces.list.query({});
    const id = workspaces[0]?.id ?? 0;
    await client.rooms.create.mutate({ workspace_id: id, name: 'before' });
    const users = await query(database.url, 'select * from users');

    await runBlock(findBlock('lynxroom backup'));
    const clone = findBlock('git clone');
    const [, NEW = ''] = /(\/opt\/lynxroom-\S+)$/m.exec(clone) ?? [];
    const calls = await runBlockWithClone(clone, NEW);
    expect(calls).toEqual([
      expect.stringMatching(/^git clone https:\S+ \/opt\/lynxroom-\S+$/),
      'node scripts/setup.mjs --production',
      'node scripts/build-console.mjs --required',
      'systemctl daemon-reload',
      'systemctl try-restart lynxroom lynxroom-worker',
    ]);
    expect(await realpath(join(machine, 'opt/lynxroom'))).toBe(await realpath(join(machine, NEW)));

    // Another machine has not been restarted yet. Its server continues on the migrated database.
    const upgraded = await start('lynxroom', 'upgraded');
    expect((await fetch(`${upgraded}/ready`)).status).toBe(200);
    expect(await query(database.url, 'select * from later_things')).toEqual([]);
    expect(await query(database.url, 'select * from users')).toEqual(users);
    for (const server of [url, upgraded]) {
      const { rooms } = await (await signIn(server)).rooms.listInWorkspace.query({ id });
      expect(rooms.map(({ name }) => name)).toEqual(['before']);
    }
    await (await signIn(upgraded)).rooms.create.mutate({ workspace_id: id, name: 'lost' });
    await stop('lynxroom');
    await runBlock(`ln -sfn ${OLD} /opt/lynxroom`);
    const refused = start('lynxroom', 'refused');
    await expect(refused).rejects.toThrow('has the migration 29990101000000_later, which this version does not know');
    await stop('upgraded');

    const back = await runBlock(findBlock('lynxroom restore'));
    expect(back[0]).toBe('systemctl stop lynxroom lynxroom-worker');
    expect(back.at(-1)).toBe('systemctl start lynxroom lynxroom-worker');
    expect(await realpath(join(machine, 'opt/lynxroom'))).toBe(await realpath(join(machine, OLD)));
    const old = await start('lynxroom');
    const { rooms } = await (await signIn(old)).rooms.listInWorkspace.query({ id });
    expect(rooms.map(({ name }) => name)).toEqual(['before']);
    const listing = findBlock('_prisma_migrations order by').replace(';', '');
    const migrations = await query(database.url, listing);
    const folders = (await readdir(join(root, 'prisma/migrations'))).filter((name) => /^\d/.test(name));
    expect(migrations.map(({ migration_name }) => migration_name)).toEqual(folders.sort());
  });

  /** The new version is this one with one migration more. */
  async function runBlockWithClone(code: string, target: string): Promise<string[]> {
    const staged = join(dir, 'clone');
    await installVersion(staged);
    const later = join(staged, 'prisma/migrations/29990101000000_later');
    await mkdir(later);
    await writeFile(join(later, 'migration.sql'), 'create table later_things (id int primary key);\n');
    const git = join(machine, 'bin/git');
    await writeFile(git, (await readFile(git, 'utf8')).replace('mkdir "$3"', `cp -a ${staged} "$3"`), { mode: 0o755 });
    expect(existsSync(join(machine, target))).toBe(false);
    return runBlock(code);
  }
});
