/** `scripts/setup.mjs`, which npm runs before everything else. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const scripts = fileURLToPath(new URL('../../scripts', import.meta.url));

let checkout: string;

beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'lynxroom-setup-'));
  for (const name of ['setup.mjs', 'install-packages.mjs', 'lock.mjs'])
    await cp(join(scripts, name), join(checkout, 'scripts', name));
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

describe('what npm is told to install', () => {
  const lockFile = JSON.stringify({
    packages: { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.0.0', dev: true } },
  });

  /** Runs the script before an npm command, with a program in place of npm that stores its arguments. */
  async function npmArguments(command: string, installed?: object): Promise<string> {
    const [npm, stored] = [join(checkout, 'npm-cli.js'), join(checkout, 'arguments')];
    await writeFile(npm, `require('fs').writeFileSync(${JSON.stringify(stored)}, process.argv.slice(2).join(' '))`);
    await writeFile(join(checkout, 'package-lock.json'), lockFile);
    if (installed) {
      await mkdir(join(checkout, 'node_modules'), { recursive: true });
      await writeFile(join(checkout, 'node_modules/.package-lock.json'), JSON.stringify({ packages: installed }));
    }
    const env = { PATH: process.env.PATH, npm_execpath: npm, npm_lifecycle_event: command };
    spawnSync(process.execPath, [join(checkout, 'scripts/setup.mjs')], { env });
    return readFile(stored, 'utf8');
  }

  test('a start on a fresh clone installs only what the service needs', async () => {
    expect(await npmArguments('prestart')).toMatch(/^ci .* --omit=dev --omit=peer$/);
  });

  test('a test on a fresh clone installs everything', async () => {
    expect(await npmArguments('pretest')).toMatch(/^ci .* --include=dev --include=peer$/);
  });

  test('development dependencies are added to those of a server that may be running', async () => {
    const args = await npmArguments('pretest', { 'node_modules/a': { version: '1.0.0' } });
    expect(args).toMatch(/^install --no-save .* --include=dev --include=peer$/);
  });

  test('a start after an update keeps the development dependencies', async () => {
    const args = await npmArguments('prestart', { 'node_modules/b': { version: '1.0.0', dev: true } });
    expect(args).toMatch(/^install --no-save .* --include=dev --include=peer$/);
  });
});

test('a start in an installation for production installs neither Node nor PostgreSQL', async () => {
  const node = `node_modules/node-${process.platform}-${process.arch}`;
  const packages = { 'node_modules/a': { version: '1.0.0' }, [node]: { version: '24.0.0', optional: true } };
  const [npm, calls] = [join(checkout, 'npm-cli.js'), join(checkout, 'calls')];
  await writeFile(npm, `require('fs').writeFileSync(${JSON.stringify(calls)}, '')`);
  await mkdir(join(checkout, 'node_modules/a'), { recursive: true });
  await writeFile(join(checkout, 'node_modules/a/package.json'), '{}');
  await writeFile(join(checkout, 'package-lock.json'), JSON.stringify({ packages }));
  const installed = { packages: { 'node_modules/a': { version: '1.0.0' } } };
  await writeFile(join(checkout, 'node_modules/.package-lock.json'), JSON.stringify(installed));
  const setUpFor = (event: string, ...options: string[]) => {
    const env = { PATH: process.env.PATH, npm_execpath: npm, npm_lifecycle_event: event };
    const { status } = spawnSync(process.execPath, [join(checkout, 'scripts/setup.mjs'), ...options], { env });
    return { status, hasInstalled: existsSync(calls) };
  };
  expect(setUpFor('', '--production')).toEqual({ status: 0, hasInstalled: false });
  expect(setUpFor('prestart')).toEqual({ status: 0, hasInstalled: false });
  expect(setUpFor('prelynxroom')).toEqual({ status: 0, hasInstalled: false });
  // The program in place of npm installs nothing, so the command fails.
  expect(setUpFor('pretest')).toEqual({ status: 1, hasInstalled: true });
});
