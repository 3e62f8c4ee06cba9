/** The build of the console, in a copy of the checkout: when it runs, and what a failed one leaves behind. */
import { spawnSync } from 'node:child_process';
import { appendFile, cp, mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { root } from '../../client/packed-client.ts';
import { makeTempDir } from '../../support/temp-dir.ts';

const COPIED = ['scripts', 'packages/client/src', 'packages/react/src', 'src/languages', 'package.json'];
const CONFIGURATION = [
  'index.html',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'vite.config.ts',
  'vite.embed.config.ts',
];
const COPIED_OF_WEB = ['src', 'public', 'dist', ...CONFIGURATION];

let copy: string;
beforeAll(async () => {
  copy = join(await makeTempDir(), 'checkout');
  const paths = [...COPIED, ...COPIED_OF_WEB.map((path) => `web/${path}`)];
  await mkdir(join(copy, 'web'), { recursive: true });
  for (const path of paths) await cp(join(root, path), join(copy, path), { recursive: true });
  for (const path of ['node_modules', 'web/node_modules']) await symlink(join(root, path), join(copy, path));
});

function build(...options: string[]) {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const script = join(copy, 'scripts/build-console.mjs');
  return spawnSync(process.execPath, [script, ...options], { cwd: copy, env, encoding: 'utf8' });
}

test('a console that is built from these sources is not built again', async () => {
  const before = await readFile(join(copy, 'web/dist/index.html'));
  expect(build('--required')).toMatchObject({ status: 0, stdout: '', stderr: '' });
  expect(await readFile(join(copy, 'web/dist/index.html'))).toEqual(before);
});

test('a failed build names the file, and leaves the earlier console in place', async () => {
  const before = await readFile(join(copy, 'web/dist/index.html'));
  await appendFile(join(copy, 'web/src/main.tsx'), '\nconst unfinished = {\n');
  const { status, stdout, stderr } = build();
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^Failed to build the console: /);
  expect(stderr).toContain('src/main.tsx');
  expect(stderr).toMatch(/\nThe service starts without the new console\.\n$/);
  // The service starts.
  expect(status).toBe(0);
  expect(await readFile(join(copy, 'web/dist/index.html'))).toEqual(before);
  const required = build('--required');
  expect(required.status).toBe(1);
  expect(required.stderr).toContain('src/main.tsx');
  expect(required.stderr).not.toContain('The service starts');
});
