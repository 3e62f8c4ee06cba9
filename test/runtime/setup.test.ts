/** `scripts/setup.mjs`, which npm runs before everything else. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const lockFile = JSON.stringify({
  packages: { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.0.0', dev: true } },
});

let checkout: string;

beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'lynxroom-setup-'));
  for (const name of ['setup.mjs', 'lock.mjs']) await cp(join(root, 'scripts', name), join(checkout, 'scripts', name));
  await mkdir(join(checkout, 'packages/client'), { recursive: true });
  await mkdir(join(checkout, 'prisma'));
  await writeFile(join(checkout, 'prisma/schema.prisma'), 'the first schema');
  // In place of the generator: it stores the schema.
  const [schema, target] = [join(checkout, 'prisma/schema.prisma'), join(checkout, 'src/db/generated')];
  await writeFile(
    join(checkout, 'scripts/generate-prisma-client.cjs'),
    `const fs = require('fs');
    fs.mkdirSync(${JSON.stringify(target)}, { recursive: true });
    fs.copyFileSync(${JSON.stringify(schema)}, ${JSON.stringify(join(target, 'client.ts'))});`,
  );
  // In place of npm: it stores its arguments, and installs what the lock file lists.
  await writeFile(
    join(checkout, 'npm-cli.js'),
    `const fs = require('fs');
    fs.appendFileSync(${JSON.stringify(join(checkout, 'calls'))}, process.argv.slice(2).join(' ') + '\\n');
    const { packages } = JSON.parse(fs.readFileSync('package-lock.json'));
    for (const path of Object.keys(packages)) {
      fs.mkdirSync(path, { recursive: true });
      fs.writeFileSync(path + '/package.json', '{}');
    }
    fs.writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }));`,
  );
  await writeFile(join(checkout, 'package-lock.json'), lockFile);
});

afterEach(() => rm(checkout, { recursive: true, force: true }));

/** Runs the script before an npm command, on a Node that reports this version. */
function setUp(
  { event = '', nodeVersion = '24.0.0' }: { event?: string; nodeVersion?: string },
  ...options: string[]
): { status: number | null; output: string } {
  const preload = `Object.defineProperty(process.versions, 'node', { value: '${nodeVersion}' })`;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`, join(checkout, 'scripts/setup.mjs')];
  const env = { PATH: process.env.PATH, npm_execpath: join(checkout, 'npm-cli.js'), npm_lifecycle_event: event };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, ...options], { encoding: 'utf8', env });
  return { status, output: stdout + stderr };
}

/** What npm was told since the last call of this function. */
async function takeCalls(): Promise<string[]> {
  const path = join(checkout, 'calls');
  const calls = existsSync(path) ? await readFile(path, 'utf8') : '';
  await rm(path, { force: true });
  return calls.split('\n').filter((line) => line !== '');
}

test('an old Node is refused in one line on a platform for which the lock file has no Node', () => {
  const { status, output } = setUp({ nodeVersion: '22.19.0' });
  expect(output).toBe(
    `Lynxroom needs Node.js 24 or newer on ${process.platform}-${process.arch}, and this is 22.19.0. ` +
      'Install it from https://nodejs.org or with "nvm install", then run the command again.\n',
  );
  expect(status).toBe(1);
});

test('a broken lock file is refused in one line', async () => {
  await writeFile(join(checkout, 'package-lock.json'), '{');
  const { status, output } = setUp({});
  expect(output).toBe('package-lock.json is missing or broken: restore it from the repository.\n');
  expect(status).toBe(1);
});

test('an installation that lacks a package is refused in one line', async () => {
  await writeFile(join(checkout, 'npm-cli.js'), '');
  const { status, output } = setUp({ event: 'prestart' });
  expect(output).toMatch(
    /^Installing dependencies …\nnpm did not install everything that package-lock.json lists for /,
  );
  expect(status).toBe(1);
});

describe('what npm is told to install', () => {
  /** As if npm had installed these packages. */
  async function install(packages: Record<string, object>): Promise<void> {
    for (const path of Object.keys(packages)) {
      await mkdir(join(checkout, path), { recursive: true });
      await writeFile(join(checkout, path, 'package.json'), '{}');
    }
    await writeFile(join(checkout, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
  }

  test('a start on a fresh clone installs only what the service needs', async () => {
    expect(setUp({ event: 'prestart' }).status).toBe(0);
    expect(await takeCalls()).toEqual([expect.stringMatching(/^ci .* --omit=dev --omit=peer$/)]);
    expect(setUp({ event: 'prestart' })).toEqual({ status: 0, output: '' });
    expect(await takeCalls()).toEqual([]);
  });

  test('a test on a fresh clone installs everything', async () => {
    expect(setUp({ event: 'pretest' }).status).toBe(0);
    expect(await takeCalls()).toEqual([expect.stringMatching(/^ci .* --include=dev --include=peer$/)]);
  });

  test('development dependencies are added to those of a server that may be running', async () => {
    await install({ 'node_modules/a': { version: '1.0.0' } });
    expect(setUp({ event: 'pretest' }).status).toBe(0);
    expect(await takeCalls()).toEqual([expect.stringMatching(/^install --no-save .* --include=dev --include=peer$/)]);
  });

  test('a start after an update keeps the development dependencies', async () => {
    await install({ 'node_modules/b': { version: '1.0.0', dev: true } });
    expect(setUp({ event: 'prestart' }).status).toBe(0);
    expect(await takeCalls()).toEqual([expect.stringMatching(/^install --no-save .* --include=dev --include=peer$/)]);
  });

  test('for production, the packages of tools/setup are installed only to generate the client', async () => {
    expect(setUp({}, '--production').status).toBe(0);
    const production = /^ci .* --omit=dev --omit=peer --include-workspace-root --workspace=packages\/client$/;
    expect(await takeCalls()).toEqual([
      expect.stringMatching(/^ci .* --omit=dev --omit=peer$/),
      expect.stringMatching(production),
    ]);
    expect(existsSync(join(checkout, 'src/db/generated/client.ts'))).toBe(true);
    await writeFile(join(checkout, 'package-lock.json'), lockFile.replace('"1.0.0"', '"1.0.1"'));
    expect(setUp({ event: 'prestart' }).status).toBe(0);
    expect(await takeCalls()).toEqual([expect.stringMatching(production)]);
  });

  test('an installation for production stays one until a command needs more', async () => {
    setUp({}, '--production');
    await takeCalls();
    // Node and PostgreSQL are not there, and the commands of the service do not install them.
    for (const event of ['prestart', 'preworker', 'prelynxroom']) expect(setUp({ event }).status).toBe(0);
    expect(await takeCalls()).toEqual([]);
    expect(setUp({ event: 'pretest' }).status).toBe(0);
    expect(await takeCalls()).toEqual([expect.stringMatching(/^install --no-save .* --include=dev --include=peer$/)]);
  });
});

describe('the database client', () => {
  const readClient = () => readFile(join(checkout, 'src/db/generated/client.ts'), 'utf8');

  test('is generated when it is missing, and when the schema has changed', async () => {
    expect(setUp({ event: 'pretest' }).output).toMatch(/Generating the database client …\n$/);
    expect(await readClient()).toBe('the first schema');
    expect(setUp({ event: 'pretest' })).toEqual({ status: 0, output: '' });
    await writeFile(join(checkout, 'prisma/schema.prisma'), 'the second schema');
    expect(setUp({ event: 'prestart' }).output).toBe('Generating the database client …\n');
    expect(await readClient()).toBe('the second schema');
    await rm(join(checkout, 'src/db/generated/client.ts'));
    expect(setUp({ event: 'prestart' }).output).toBe('Generating the database client …\n');
  });

  test('counts as missing after a generator that failed', async () => {
    const generator = join(checkout, 'scripts/generate-prisma-client.cjs');
    await writeFile(generator, 'process.exit(3);');
    const failed = setUp({ event: 'prestart' });
    expect(failed.output).toMatch(/Failed to generate the database client: the script ended with code 3\.\n$/);
    expect(failed.status).toBe(1);
    expect(setUp({ event: 'prestart' }).status).toBe(1);
  });
});

test.each(['', 'web/'])(
  'every package in %spackage-lock.json has a hash, and its URL in the public registry',
  async (folder) => {
    const { packages } = JSON.parse(await readFile(join(root, folder, 'package-lock.json'), 'utf8'));
    const entries = Object.entries<Record<string, unknown>>(packages);
    const unlocked = entries.filter(
      ([path, { link, inBundle, resolved, integrity }]) =>
        path.includes('node_modules/') &&
        !link &&
        !inBundle &&
        (!integrity || !String(resolved).startsWith('https://registry.npmjs.org/')),
    );
    expect(unlocked.map(([path]) => path)).toEqual([]);
  },
);

test.each(['src/server.ts', 'src/worker.ts', 'src/lynxroom.ts'])(
  '%s says in one line that the checkout is not set up',
  async (entry) => {
    for (const path of [entry, 'src/runtime/prepare-modules.ts']) await cp(join(root, path), join(checkout, path));
    const { status, stderr } = spawnSync(process.execPath, [entry], { cwd: checkout, encoding: 'utf8' });
    expect(stderr).toBe('The project is not set up: run "node scripts/setup.mjs", then this command again.\n');
    expect(status).toBe(1);
  },
);
