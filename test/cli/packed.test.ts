/** The packed command line, installed by npm in an empty project, without a registry. */
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packPackage } from '../../scripts/pack-package.ts';
import { run } from '../client/packed-client.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, PASSWORD, type Team } from '../support/world.ts';
import { type CommandLine, createCommandLine } from './command-line.ts';

let dir: string;
let app: TestApp;
let team: Team;
let cli: CommandLine;
beforeAll(async () => {
  dir = await makeTempDir();
  const project = join(dir, 'project');
  await mkdir(project);
  const { path } = await packPackage('@lynxroom/cli', dir);
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', path], { cwd: project });
  app = await startTestApp();
  team = await addTeam(app);
  cli = createCommandLine(dir, [join(project, 'node_modules/.bin/lynxroom')]);
});
afterAll(async () => {
  await app.close();
  await rm(dir, { recursive: true, force: true });
});

test('it is one program with its licenses, and has no dependencies', async () => {
  const modules = join(dir, 'project/node_modules');
  expect((await readdir(modules)).filter((name) => !name.startsWith('.'))).toEqual(['@lynxroom']);
  const installed = join(modules, '@lynxroom/cli');
  const files = ['LICENSE', 'THIRD-PARTY-LICENSES', 'lynxroom.js'];
  expect((await readdir(join(installed, 'dist'))).sort()).toEqual(files.sort());
  expect(await readFile(join(installed, 'dist/THIRD-PARTY-LICENSES'), 'utf8')).toMatch(
    /@trpc\/client[\s\S]*MIT License/,
  );
  expect((await stat(join(installed, 'dist/lynxroom.js'))).size).toBeLessThan(200_000);
  const { version } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  expect((await cli.run(['--version'])).stdout).toBe(`${version}\n`);
});

test('it signs in, uploads and lists', async () => {
  const signIn = ['login', '--url', app.url, '--email', team.owner.email];
  await cli.json(signIn, { input: `${PASSWORD}\n` });
  await cli.json(['upload', 'examples/sample.mp4', '--workspace', String(team.id)]);
  const { items } = await cli.json(['ls', '--workspace', String(team.id)]);
  expect(items).toMatchObject([{ name: 'sample.mp4', mime_type: 'video/mp4' }]);
});

test('it says where the commands for operators are', async () => {
  for (const args of [['doctor'], ['backup', 'somewhere'], ['admin', 'lock', 'ada@example.com']]) {
    const { status, stderr } = await cli.run(args);
    expect([status, stderr]).toEqual([
      1,
      `lynxroom ${args[0]} needs the repository of the service: npm run lynxroom -- ${args[0]} --help\n`,
    ]);
  }
});
