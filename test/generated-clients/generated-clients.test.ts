/** Clients that generators make from the document of a running server compile, have its names, and work. */
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root, run } from '../client/packed-client.ts';
import { listSchemas } from '../openapi/document.ts';
import { installPackages } from '../support/install-packages.ts';
import { type ServerProcess, startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { compile, readSection, writeProject } from './projects.ts';

const hasPython = await run('python3', ['-c', 'import dateutil']).then(
  () => true,
  () => false,
);
if (!hasPython) process.stderr.write('python3 or its module dateutil is missing: its tests are skipped\n');

const languages = {
  ts: { command: 'node', declaration: /^export (?:type|interface) (\w+)/gm, spelling: (name: string) => name },
  py: { command: 'python3', declaration: /^class (\w+)/gm, spelling: spellInPython },
};

/** quicktype writes abbreviations in capitals. */
function spellInPython(name: string): string {
  return name.replace('Api', 'API').replace('OpenId', 'OpenID');
}

const generators = [
  {
    title: 'openapi-typescript and openapi-fetch',
    fixture: 'openapi-fetch.ts',
    types: 'src/lynxroom.ts',
    libraryPage: /^ {4}libraryList: \{.*? 200: \{.*?"application\/json": components\["schemas"\]\["LibraryPage"\];/ms,
  },
  {
    title: '@hey-api/openapi-ts',
    fixture: 'hey-api.ts',
    types: 'src/lynxroom/types.gen.ts',
    libraryPage: /^export type LibraryListResponses = \{[^}]* 200: LibraryPage;\n\};/m,
  },
  {
    title: 'orval',
    fixture: 'orval.ts',
    types: 'src/lynxroom.ts',
    libraryPage: /^export type libraryListResponse200 = \{\n {2}data: LibraryPage\n/m,
  },
  {
    title: 'quicktype, for Python and other languages',
    fixture: 'quicktype.py',
    types: 'src/lynxroom.py',
    libraryPage: /^class LibraryPage:\n(?:(?!class ).*\n)*? {4}items: list\[LibraryItem\]\n/m,
  },
].map((generator) => {
  const { name, ext } = parse(generator.fixture);
  const isPython = ext === '.py';
  const { command, declaration, spelling } = languages[isPython ? 'py' : 'ts'];
  const section = readSection(generator.title);
  return { ...generator, name, ext, command, declaration, spelling, section, skip: isPython && !hasPython };
});

let dir: string;
let dataDir: string;
let server: ServerProcess;
let schemaNames: string[];
beforeAll(async () => {
  [dir, dataDir] = await Promise.all([makeTempDir(), makeTempDir()]);
  server = startServer({ DATA_DIR: dataDir });
  const [url] = await Promise.all([server.ready, installPackages('tools/generated-clients', dir)]);
  schemaNames = Object.keys(listSchemas(await (await fetch(`${url}/openapi.json`)).json()));
  for (const { name, fixture, section } of generators) {
    await writeProject(join(dir, name), section, fixture);
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

describe.each(generators)('$title', (generator) => {
  const { name, ext, command, section } = generator;

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
    const text = readFileSync(join(dir, name, generator.types), 'utf8');
    const names = [...text.matchAll(generator.declaration)].map(([, each = '']) => each);
    expect(schemaNames).toContain('LibraryPage');
    expect(names).toEqual(expect.arrayContaining(schemaNames.map(generator.spelling)));
    // The names of orval for the responses of an operation end with the status, and the type of a picture.
    const others = names.filter((each) => !/^[a-z]\w*[a-z]Response[2-5]\d\d(?:Image[a-z]+)?$/i.test(each));
    expect(others.filter((each) => /\d|inline|anonymous/i.test(each))).toEqual([]);
    expect(text).toMatch(generator.libraryPage);
  });

  test.skipIf(generator.skip)('the program of the page runs as printed', async () => {
    expect(await runIn(name, `${command} src/main${ext}`)).toMatch(/^\d+ found: Offer\.pdf\b/);
  });

  test.skipIf(generator.skip)('a program does the main job, and has typed errors', async () => {
    expect(JSON.parse(await runIn(name, `${command} src/job${ext}`))).toEqual({
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
