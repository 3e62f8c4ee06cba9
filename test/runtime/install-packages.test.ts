/** The installation of a fresh clone, which `scripts/setup.mjs` does without npm. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const longPath = `lib/${'deep/'.repeat(30)}${'x'.repeat(120)}.js`;

let checkout: string;
let registry: Server;
let archives: Map<string, Buffer>;

beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'lynxroom-install-'));
  for (const name of ['setup.mjs', 'install-packages.mjs', 'lock.mjs']) {
    await cp(join(root, 'scripts', name), join(checkout, 'scripts', name));
  }
  archives = new Map();
  registry = createServer((request, response) => {
    const archive = archives.get(request.url ?? '');
    response.writeHead(archive ? 200 : 404).end(archive);
  });
  await once(registry.listen(0, '127.0.0.1'), 'listening');
});

afterEach(async () => {
  registry.close();
  await rm(checkout, { recursive: true, force: true });
});

/** Publishes a package, and returns its entry for the lock file. */
async function publish(name: string, files: Record<string, string>, entry: object = {}): Promise<object> {
  const directory = join(checkout, 'published', name);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, 'package', path)), { recursive: true });
    await writeFile(join(directory, 'package', path), text);
  }
  spawnSync('tar', ['czf', 'archive.tgz', '--format=posix', 'package'], { cwd: directory });
  const archive = await readFile(join(directory, 'archive.tgz'));
  archives.set(`/${name}/-/${name.replace(/^@\w+\//, '')}-1.0.0.tgz`, archive);
  const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
  return { version: '1.0.0', integrity, ...entry };
}

/** Runs the script before `npm start`, with a program in place of npm that only says that it ran. */
async function setUp(packages: Record<string, object>): Promise<string> {
  await writeFile(join(checkout, 'package-lock.json'), JSON.stringify({ name: 'app', lockfileVersion: 3, packages }));
  const npm = join(checkout, 'npm-cli.js');
  await writeFile(npm, "console.error('npm ran with', require('fs').readdirSync('.').join(' '))");
  const { port } = registry.address() as { port: number }; // a server that listens on TCP
  const child = spawn(process.execPath, [join(checkout, 'scripts/setup.mjs')], {
    env: {
      PATH: process.env.PATH,
      npm_lifecycle_event: 'prestart',
      npm_execpath: npm,
      npm_config_registry: `http://127.0.0.1:${port}`,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  await once(child, 'close');
  return output;
}

test('packages, links and programs are where npm puts them', async () => {
  const tool = await publish('tool', { 'package.json': '{}', 'cli.js': '#!', [longPath]: 'deep' });
  const output = await setUp({
    '': {},
    'node_modules/tool': { ...tool, bin: { run: 'cli.js' } },
    'node_modules/a/node_modules/tool': tool,
    'node_modules/other-name': { ...(await publish('@scope/named', { file: 'named' })), name: '@scope/named' },
    'node_modules/own': { resolved: 'packages/own', link: true },
    'packages/own': { version: '0.1.0' },
  });
  expect(output).not.toContain('npm ran');
  const modules = join(checkout, 'node_modules');
  expect(await readFile(join(modules, 'tool', longPath), 'utf8')).toBe('deep');
  expect(await readFile(join(modules, 'a/node_modules/tool', longPath), 'utf8')).toBe('deep');
  expect(await readFile(join(modules, 'other-name/file'), 'utf8')).toBe('named');
  expect(await readlink(join(modules, 'own'))).toBe('../packages/own');
  expect(await readlink(join(modules, '.bin/run'))).toBe('../tool/cli.js');
  expect((await stat(join(modules, '.bin/run'))).mode & 0o777).toBe(0o755);
  const record = JSON.parse(await readFile(join(modules, '.package-lock.json'), 'utf8'));
  expect(record.packages['node_modules/tool'].version).toBe('1.0.0');
});

test('packages for development and for other platforms are left out', async () => {
  const files = { 'package.json': '{}' };
  await setUp({
    'node_modules/a': await publish('a', files),
    'node_modules/b': await publish('b', files, { dev: true }),
    'node_modules/c': await publish('c', files, { optional: true, os: ['aix'] }),
    'node_modules/d': await publish('d', files, { optional: true, cpu: ['mips'] }),
  });
  const record = JSON.parse(await readFile(join(checkout, 'node_modules/.package-lock.json'), 'utf8'));
  expect(Object.keys(record.packages)).toEqual(['node_modules/a']);
});

test('npm takes over if an archive has another hash than the lock file, and nothing of it is left', async () => {
  const files = { 'package.json': '{}' };
  const [good, bad] = [await publish('good', files), await publish('bad', files, { integrity: 'sha512-AAAA' })];
  const output = await setUp({ 'node_modules/good': good, 'node_modules/bad': bad });
  expect(output).toContain('bad-1.0.0.tgz does not have the locked hash');
  expect(output).toMatch(/npm ran with (?!.*node_modules)/);
});

test('npm takes over if the registry does not have a package', async () => {
  const entry = await publish('gone', { 'package.json': '{}' });
  archives.clear();
  expect(await setUp({ 'node_modules/gone': entry })).toMatch(/gone-1.0.0.tgz returned 404[\s\S]*npm ran with/);
});

test('every package of the lock file has a hash, and comes from the registry', async () => {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  const entries = Object.entries<Record<string, unknown>>(packages);
  const unlocked = entries.filter(
    ([path, { link, resolved, integrity }]) =>
      path.includes('node_modules/') && !link && (resolved !== undefined || !integrity),
  );
  expect(unlocked.map(([path]) => path)).toEqual([]);
});
