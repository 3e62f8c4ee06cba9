/** `scripts/setup.mjs`, which npm runs before everything else. */
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../scripts/setup.mjs', import.meta.url));

let checkout: string;

beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'lynxroom-setup-'));
  await cp(script, join(checkout, 'scripts/setup.mjs'));
});

afterEach(() => rm(checkout, { recursive: true, force: true }));

/** Runs the script of a checkout whose lock file is this, on a Node that reports this version. */
async function setUp(lockFile: string, nodeVersion: string): Promise<{ status: number | null; output: string }> {
  await writeFile(join(checkout, 'package-lock.json'), lockFile);
  const preload = `Object.defineProperty(process.versions, 'node', { value: '${nodeVersion}' })`;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`, join(checkout, 'scripts/setup.mjs')];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

test('an old Node is refused in one line on a platform for which the lock file has no Node', async () => {
  const { status, output } = await setUp('{"packages":{}}', '22.19.0');
  expect(output).toBe(
    `Lynxroom needs Node.js 24 or newer on ${process.platform}-${process.arch}, and this is 22.19.0. ` +
      'Install it from https://nodejs.org or with "nvm install", then run the command again.\n',
  );
  expect(status).toBe(1);
});

test('a broken lock file is refused in one line', async () => {
  const { status, output } = await setUp('{', '24.0.0');
  expect(output).toBe('package-lock.json is missing or broken: restore it from the repository.\n');
  expect(status).toBe(1);
});
