/** Tests for starting after the server, PostgreSQL or both were killed, or while another server is running. */
import { spawn } from 'node:child_process';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DataDirInUseError } from '../src/index.ts';
import { createHarness, type Harness, isAlive, query, readPid, readReport, readUrl } from './support/harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await createHarness();
});

afterEach(() => harness.stopServers());

afterAll(() => harness.close());

function listFiles(dataDir: string): Promise<string[]> {
  return readdir(join(dataDir, 'postgres')).catch((): string[] => []);
}

/** Returns a data directory in which the creation of the cluster was interrupted. */
async function killFirstStart(): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const dataDir = join(harness.base, `half-made-${attempt}`);
    const server = harness.startServer(dataDir);
    await expect.poll(async () => (await listFiles(dataDir)).join(), { interval: 5 }).toMatch(/cluster/);
    await server.end('SIGKILL');
    // On a busy machine the kill can come too late. The next start then stops the PostgreSQL process that was left.
    if (!(await listFiles(dataDir)).includes('cluster')) return dataDir;
    await (await harness.start(dataDir)).stop();
  }
}

describe('a start', () => {
  it('takes over from a killed server whose PostgreSQL is still running', async () => {
    const dataDir = await harness.createDataDir();
    const server = harness.startServer(dataDir);
    await query(await readUrl(server), `INSERT INTO notes VALUES ('before')`);
    const orphan = await readPid(dataDir);
    await server.end('SIGKILL');
    expect(isAlive(orphan)).toBe(true);

    const next = harness.startServer(dataDir);

    expect(await query(await readUrl(next), 'SELECT text FROM notes')).toEqual([{ text: 'first' }, { text: 'before' }]);
    expect(await readPid(dataDir)).not.toBe(orphan);
  });

  it('recovers after SIGKILL of the server and its PostgreSQL', async () => {
    const dataDir = await harness.createDataDir();
    const server = harness.startServer(dataDir);
    await query(await readUrl(server), `INSERT INTO notes VALUES ('before')`);
    const pid = await readPid(dataDir);
    await server.end('SIGKILL');
    process.kill(pid, 'SIGKILL');

    const next = harness.startServer(dataDir);

    expect(await query(await readUrl(next), 'SELECT text FROM notes')).toEqual([{ text: 'first' }, { text: 'before' }]);
  });

  it('succeeds when another program has the process id of a killed PostgreSQL, and does not stop it', async () => {
    const dataDir = await harness.createDataDir();
    // It has the same user, because PostgreSQL ignores the processes of other users.
    const { uid, gid } = await stat(join(dataDir, 'postgres/cluster'));
    const stranger = spawn('sleep', ['600'], { uid, gid });
    const pidFile = join(dataDir, 'postgres/cluster/postmaster.pid');
    await writeFile(pidFile, `${stranger.pid}\n${dataDir}/postgres/cluster\n1\n5432\n\n127.0.0.1\n\nready   \n`);

    const server = harness.startServer(dataDir);

    expect(await query(await readUrl(server), 'SELECT text FROM notes')).toEqual([{ text: 'first' }]);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    stranger.kill();
  });

  it('creates its database again when the first start was killed', async () => {
    const dataDir = await killFirstStart();

    const next = harness.startServer(dataDir);

    expect(await query(await readUrl(next), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await listFiles(dataDir)).toContain('cluster');
  });

  it('is refused with a one-line error while another server uses the directory, which keeps running', async () => {
    const dataDir = await harness.createDataDir();
    const first = harness.startServer(dataDir);
    const url = await readUrl(first);

    await expect(harness.start(dataDir)).rejects.toThrow(DataDirInUseError);
    const second = await readReport(harness.startServer(dataDir));

    expect(second.error).toBe('DataDirInUseError');
    expect(second.message).not.toContain('\n');
    expect(await query(url, 'SELECT text FROM notes')).toEqual([{ text: 'first' }]);
  });
});
