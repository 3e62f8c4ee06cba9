/** A project with the packed client, tRPC and React Query installs and compiles. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { run } from '../client/packed-client.ts';

const exampleDir = inject('exampleDir');

function readPackages(path: string): Record<string, object> {
  return JSON.parse(readFileSync(join(exampleDir, path), 'utf8')).packages;
}

test('one copy of tRPC is installed', () => {
  const copies = Object.keys(readPackages('node_modules/.package-lock.json')).filter((path) =>
    /@trpc\/(?:client|server)$/.test(path),
  );
  expect(copies.sort()).toEqual(['node_modules/@trpc/client', 'node_modules/@trpc/server']);
});

test('the lock file of the example has no checksum of the client, which changes with every build', () => {
  const client = readPackages('package-lock.json')['node_modules/@lynxroom/client'];
  expect(client).toMatchObject({ resolved: expect.stringMatching(/^file:/) });
  expect(client).not.toHaveProperty('integrity');
});

test.each([
  ['7', exampleDir],
  ['5.9', inject('toolsDir')],
])('TypeScript %s compiles the example, and a program with every kind of type', async (version, installedIn) => {
  const typescript = join(installedIn, 'node_modules/typescript');
  expect(JSON.parse(readFileSync(join(typescript, 'package.json'), 'utf8')).version).toMatch(`${version}.`);
  const args = [join(typescript, 'bin/tsc'), '-p', join(exampleDir, 'tsconfig.check.json')];
  const { stdout } = await run(process.execPath, args).catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});
