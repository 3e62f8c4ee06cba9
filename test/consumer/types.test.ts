/** A project with the packed client, tRPC and React Query installs and compiles. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
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

/** Returns the text that an editor shows over the last name of each expression, in a file of the project. */
async function hover(expressions: readonly string[]): Promise<unknown[]> {
  const file = join(exampleDir, 'src/hover.ts');
  const start = "import { createClient } from '@lynxroom/client';\nconst client = createClient({ url: '' });\n";
  // On the disk, so that it belongs to the project and has its settings.
  await writeFile(file, start + expressions.map((one) => `${one};\n`).join(''));
  const requests = [
    { command: 'open', arguments: { file } },
    ...expressions.map((one, index) => ({
      command: 'quickinfo',
      arguments: { file, line: 3 + index, offset: one.length },
    })),
  ];
  // The server of most editors: TypeScript 7 shows no texts of mapped types.
  const server = spawn(process.execPath, [join(inject('toolsDir'), 'node_modules/typescript/lib/tsserver.js')]);
  const exited = once(server, 'exit');
  server.stdin.end(
    requests.map((request, seq) => `${JSON.stringify({ seq, type: 'request', ...request })}\n`).join(''),
  );
  const printed = await text(server.stdout);
  await exited;
  await rm(file);
  const messages = printed.split('\n').filter((line) => line.startsWith('{'));
  return messages
    .map((line) => JSON.parse(line))
    .filter(({ command }) => command === 'quickinfo')
    .map(({ body }) => body?.documentation);
}

test('an editor shows the summary, the description, the errors and the REST path of an operation', async () => {
  const [list, create, live] = await hover(['client.library.list', 'client.rooms.create', 'client.events.live']);
  expect(list).toMatch(/^List and search the library\.\n\n[\s\S]+\n\nErrors: 400, 401, 403, 404, 414, 429\./);
  expect(list).toContain('REST: `GET /api/workspaces/{id}/library`');
  expect(create).toMatch(/^Create a room\.\n\n[\s\S]*Emits `room\.created`\.[\s\S]*Errors: [\d, ]*409/);
  expect(live).toMatch(/^Stream the events of a workspace\./);
});
