import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EmbeddedPostgresError, findRunningPostgres, IncompatibleClusterError } from '../src/index.ts';
import { createHarness, type Harness, isAlive, query, readPid } from './support/harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await createHarness();
});

afterEach(() => harness.stopServers());

afterAll(() => harness.close());

describe('the embedded PostgreSQL', () => {
  it('has version 18, UTF-8 encoding and the builtin C.UTF-8 locale, and syncs commits to disk', async () => {
    const postgres = await harness.start(await harness.createDataDir());
    try {
      const [row] = await query(
        postgres.url,
        `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
           current_setting('full_page_writes') AS full_page_writes,
           current_setting('synchronous_commit') AS synchronous_commit,
           current_database() AS name, current_setting('cluster_name') AS cluster,
           current_setting('listen_addresses') AS addresses, current_setting('unix_socket_directories') AS sockets,
           pg_encoding_to_char(encoding) AS encoding, datlocprovider AS provider, datlocale AS locale,
           datcollate AS collate, datctype AS ctype
         FROM pg_database WHERE datname = current_database()`,
      );
      expect(row).toEqual({
        version: expect.stringMatching(/^18\./),
        fsync: 'on',
        full_page_writes: 'on',
        synchronous_commit: 'on',
        name: 'example',
        cluster: 'example',
        addresses: '127.0.0.1',
        sockets: '',
        encoding: 'UTF8',
        provider: 'b',
        locale: 'C.UTF-8',
        collate: 'C',
        ctype: process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8',
      });
    } finally {
      await postgres.stop();
    }
  });

  it('refuses a wrong password, stores the right one in a file of mode 600, and leaves no other copy', async () => {
    const dataDir = await harness.createDataDir();
    const postgres = await harness.start(dataDir);
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

  it('keeps its data and its password across a restart, and leaves no process behind', async () => {
    const dataDir = await harness.createDataDir();
    const first = await harness.start(dataDir);
    await query(first.url, `INSERT INTO notes VALUES ('second')`);
    const pid = await readPid(dataDir);
    await Promise.all([first.stop(), first.stop()]);
    expect(isAlive(pid)).toBe(false);

    const second = await harness.start(dataDir);

    expect(await query(second.url, 'SELECT text FROM notes')).toEqual([{ text: 'first' }, { text: 'second' }]);
    expect(new URL(second.url).password).toBe(new URL(first.url).password);
    await second.stop();
  });

  it('restarts on the same address when it is killed', async () => {
    const dataDir = await harness.createDataDir();
    const postgres = await harness.start(dataDir);
    const pid = await readPid(dataDir);
    process.kill(pid, 'SIGKILL');

    await expect.poll(() => query(postgres.url, 'SELECT text FROM notes').catch(String)).toEqual([{ text: 'first' }]);
    expect(await readPid(dataDir)).not.toBe(pid);
    await postgres.stop();
  });

  it('rotates a log that has grown large', async () => {
    const dataDir = await harness.createDataDir();
    const path = join(dataDir, 'postgres.log');
    await writeFile(path, 'x'.repeat(6 * 1024 * 1024));

    const postgres = await harness.start(dataDir);
    await postgres.stop();

    expect((await stat(path)).size).toBeLessThan(10_000);
    expect((await stat(`${path}.1`)).size).toBe(6 * 1024 * 1024);
  });

  it('fails with a one-line reason when PostgreSQL does not start, and unlocks the directory', async () => {
    const dataDir = await harness.createDataDir();
    const settings = join(dataDir, 'postgres/cluster/postgresql.conf');
    const before = await readFile(settings, 'utf8');
    await writeFile(settings, 'no_such_setting = 1\n');

    const failure = harness.start(dataDir);

    await expect(failure).rejects.toThrow(EmbeddedPostgresError);
    await expect(failure).rejects.toThrow('no_such_setting');
    await expect(failure).rejects.not.toThrow('\n');
    await writeFile(settings, before);
    await (await harness.start(dataDir)).stop();
  });

  it('refuses a database of another major version, and changes nothing', async () => {
    const dataDir = await harness.createDataDir();
    const version = join(dataDir, 'postgres/cluster/PG_VERSION');
    await writeFile(version, '15\n');

    const failure = harness.start(dataDir);

    await expect(failure).rejects.toThrow(IncompatibleClusterError);
    await expect(failure).rejects.toThrow(/ was created by PostgreSQL 15, and this program runs PostgreSQL 18$/);
    await writeFile(version, '18\n');
    await (await harness.start(dataDir)).stop();
  });
});

describe('findRunningPostgres', () => {
  it('returns the URL while a server runs, and null before and after', async () => {
    const dataDir = await harness.createDataDir();
    const find = () => findRunningPostgres({ dataDir, database: 'example' });
    expect(await find()).toBeNull();
    const postgres = await harness.start(dataDir);
    expect(await find()).toBe(postgres.url);
    await postgres.stop();
    expect(await find()).toBeNull();
  });

  it('creates nothing', async () => {
    const dataDir = join(harness.base, 'never-started');
    expect(await findRunningPostgres({ dataDir, database: 'example' })).toBeNull();
    await expect(stat(dataDir)).rejects.toThrow('ENOENT');
  });
});
