/** Clients that generators make from the document of a running server compile, have its names, and work. */
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root, run } from '../client/packed-client.ts';
import { listSchemas } from '../openapi/document.ts';
import { installPackages } from '../support/install-packages.ts';
import { type ServerProcess, startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { compile, readSection, writeProject } from './projects.ts';

const generators = [
  {
    title: 'openapi-typescript and openapi-fetch',
    name: 'openapi-fetch',
    types: 'src/lynxroom.ts',
    libraryPage: /^ {4}libraryList: \{.*? 200: \{.*?"application\/json": components\["schemas"\]\["LibraryPage"\];/ms,
  },
  {
    title: '@hey-api/openapi-ts',
    name: 'hey-api',
    types: 'src/lynxroom/types.gen.ts',
    libraryPage: /^export type LibraryListResponses = \{[^}]* 200: LibraryPage;\n\};/m,
  },
  {
    title: 'orval',
    name: 'orval',
    types: 'src/lynxroom.ts',
    libraryPage: /^export type libraryListResponse200 = \{\n {2}data: LibraryPage\n/m,
  },
].map((generator) => ({ ...generator, section: readSection(generator.title) }));

let dir: string;
let dataDir: string;
let server: ServerProcess;
let schemaNames: string[];
beforeAll(async () => {
  [dir, dataDir] = await Promise.all([makeTempDir(), makeTempDir()]);
  server = startServer({ DATA_DIR: dataDir });
  const [url] = await Promise.all([server.ready, installPackages('tools/generated-clients', dir)]);
  schemaNames = Object.keys(listSchemas(await (await fetch(`${url}/openapi.json`)).json()));
  for (const { name, section } of generators) {
    await writeProject(join(dir, name), section, `${name}.ts`);
    await runIn(name, section.generate);
  }
});
afterAll(async () => {
  await stopServer(server);
  for (const each of [dir, dataDir]) await rm(each, { recursive: true, force: true });
});

/** Runs a command in a project, with the variables of the demo account. Resolves with what it prints. */
async function runIn(name: string, command: string): Promise<string> {
  const script = `. ${dataDir}/demo.env\n${command}`;
  // npx must not install another package of the same name as a missing command.
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, NO_COLOR: '1', npm_config_yes: 'false' };
  const { stdout } = await run('bash', ['-euc', script], { cwd: join(dir, name), env });
  return stdout;
}

/** The version of the package in a directory. */
function versionOf(path: string): string {
  return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')).version;
}

test.each(['7', '5.9'])('TypeScript %s compiles the clients and the programs, with strict', async (version) => {
  const typescript = join(version === '7' ? root : dir, 'node_modules/typescript');
  expect(versionOf(typescript)).toMatch(`${version}.`);
  expect(await compile(dir, typescript)).toBe('');
});

describe.each(generators)('$title', ({ name, types, libraryPage, section }) => {
  test('the page installs what is tested', () => {
    expect(section.packages.length).toBeGreaterThan(0);
    for (const each of section.packages) {
      const [, packageName = '', version = ''] = /^(.[^@]*)(?:@(.*))?$/.exec(each) ?? [];
      expect([each, versionOf(join(dir, 'node_modules', packageName))]).toEqual([
        each,
        expect.stringMatching(`^${version}`),
      ]);
    }
  });

  test('the types have the names of the document, and no others are numbered', () => {
    const text = readFileSync(join(dir, name, types), 'utf8');
    const names = [...text.matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, each = '']) => each);
    expect(schemaNames).toContain('LibraryPage');
    expect(names).toEqual(expect.arrayContaining(schemaNames));
    // The names of orval for the responses of an operation end with the status.
    const others = names.filter((each) => !/^[a-z]\w*[a-z]Response[2-5]\d\d$/i.test(each));
    expect(others.filter((each) => /\d|inline|anonymous/i.test(each))).toEqual([]);
    expect(text).toMatch(libraryPage);
  });

  test('the program of the page runs as printed', async () => {
    expect(await runIn(name, 'node src/main.ts')).toMatch(/^\d+ found: Offer\.pdf\n$/);
  });

  test('the client does the main job, and has typed errors', async () => {
    expect(JSON.parse(await runIn(name, 'node src/job.ts'))).toEqual({
      user: 'Ada',
      items: [['Offer.pdf', 627, null, ['Offers']]],
      total: 1,
      waitingRoom: true,
      events: '["library_item.uploaded"]',
      secret: true,
      conflict: [409, 'CONFLICT', 'A label with this name already exists'],
      invalid: [400, ['name']],
    });
  });
});
