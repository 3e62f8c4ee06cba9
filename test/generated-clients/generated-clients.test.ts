/** Clients that generators make from the document of a running server compile, have its names, and work. */
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, parse, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root, run } from '../client/packed-client.ts';
import { listSchemas } from '../openapi/document.ts';
import { installPackages } from '../support/install-packages.ts';
import { type ServerProcess, startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { checkTypes, compile, readSection, writeProject } from './projects.ts';

const hasPython = (await findCommand(['python3'], ['-c', 'import dateutil'])) !== null;
if (!hasPython) process.stderr.write('python3 or its module dateutil is missing: its tests are skipped\n');

/** Debian's own Python has the packages that are installed with apt. */
const pythonWithHttpx = await findCommand(['python3', '/usr/bin/python3'], ['-c', 'import httpx']);
if (pythonWithHttpx === null) process.stderr.write('No python3 has the module httpx: its example is skipped\n');
const go = await findCommand(['go'], ['version']);
if (go === null) process.stderr.write('go is missing: its example is skipped\n');

/** The first of these commands that succeeds with these arguments. */
async function findCommand(commands: string[], args: string[]): Promise<string | null> {
  for (const command of commands) {
    const result = await run(command, args).catch(() => null);
    if (result !== null) return command;
  }
  return null;
}

const declarations = {
  ts: /^export (?:type|interface) (\w+)/gm,
  py: /^class (\w+)/gm,
  zod: /^const (\w+)(?:: .*)? = z\b/gm,
};

/** quicktype writes abbreviations in capitals. */
function spellInPython(name: string): string {
  return name.replace('Api', 'API').replace('OpenId', 'OpenID');
}

const runner = join(root, 'test/generated-clients/run-programs.ts');

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
    title: 'swagger-typescript-api',
    fixture: 'swagger-typescript-api.ts',
    types: 'src/lynxroom.ts',
    libraryPage: /^ {4}libraryList: \(\n(?:(?! {4}\w).*\n)*? {6}this\.request<LibraryPage, void \| Error>\(/m,
  },
  {
    title: 'oazapfts',
    lacksEvents: true,
    fixture: 'oazapfts.ts',
    types: 'src/lynxroom.ts',
    libraryPage: /^export function libraryList\([^<]*oazapfts\.fetchJson<\{\s+status: 200;\s+data: LibraryPage;/m,
  },
  {
    title: 'openapi-zod-client',
    fixture: 'openapi-zod-client.ts',
    types: 'src/lynxroom.ts',
    declaration: declarations.zod,
    libraryPage: /^const LibraryPage = z\s*\.object\(\{\s*items: z\.array\(LibraryItem\)/m,
  },
  {
    title: 'RTK Query',
    lacksEvents: true,
    fixture: 'rtk-query.ts',
    types: 'src/lynxroom.ts',
    libraryPage: /^export type LibraryListApiResponse =[^;]*\*\/ LibraryPage;/m,
  },
  {
    title: 'kubb',
    fixture: 'kubb.ts',
    types: 'src/lynxroom/types.ts',
    libraryPage: /^export type LibraryList200 = LibraryPage;?$/m,
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
  const spelling = isPython ? spellInPython : (typeName: string) => typeName;
  const section = readSection(generator.title);
  const defaults = { declaration: declarations[isPython ? 'py' : 'ts'], lacksEvents: false };
  return { ...defaults, ...generator, name, isPython, spelling, section };
});

let dir: string;
let dataDir: string;
let server: ServerProcess;
let schemaNames: string[];
/** The names of the schemas that only webhooks use. */
let eventNames: string[];
/** What the programs printed, by project. */
let printed: Record<string, { main: string; job: string }>;
beforeAll(async () => {
  [dir, dataDir] = await Promise.all([makeTempDir(), makeTempDir()]);
  server = startServer({ DATA_DIR: dataDir });
  const [url] = await Promise.all([server.ready, installPackages('tools/generated-clients', dir)]);
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as { webhooks: object };
  schemaNames = Object.keys(listSchemas(document));
  const texts = { webhooks: JSON.stringify(document.webhooks), all: JSON.stringify({ ...document, webhooks: {} }) };
  const isUsedIn = (text: string, name: string) => text.includes(`"#/components/schemas/${name}"`);
  eventNames = schemaNames.filter((name) => isUsedIn(texts.webhooks, name) && !isUsedIn(texts.all, name));
  // Two at a time: the generators compute more than they wait.
  const waiting = [...generators];
  await Promise.all([generateNext(waiting), generateNext(waiting)]);
  const names = generators.flatMap(({ name, isPython }) => (isPython ? [] : name));
  printed = JSON.parse(await runIn('.', `node ${runner} ${dir} ${names.join(' ')}`));
});
afterAll(async () => {
  await stopServer(server);
  for (const each of [dir, dataDir]) await rm(each, { recursive: true, force: true });
});

/** Makes the projects of a queue, one after the other. */
async function generateNext(waiting: typeof generators): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    await writeProject(join(dir, next.name), next.section, next.fixture);
    await runIn(next.name, next.section.generate);
    await checkTypes(join(dir, next.name, next.types));
  }
}

/**
 * Runs a command in a project of `dir`, or in another directory, with the variables of the demo account. Resolves with
 * what it prints.
 */
async function runIn(project: string, command: string): Promise<string> {
  const script = `. ${dataDir}/demo.env\n${command}`;
  const { HOME } = process.env;
  // npx must not install another package of the same name as a missing command.
  const own = { NO_COLOR: '1', npm_config_yes: 'false', PYTHONDONTWRITEBYTECODE: '1' };
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, ...(HOME && { HOME }), ...own };
  const { stdout } = await run('bash', ['-euc', script], { cwd: resolve(dir, project), env });
  return stdout;
}

/** The version of the package in a directory. */
function versionOf(path: string): string {
  return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')).version;
}

test('TypeScript 7 compiles the clients and the programs, with strict', async () => {
  const typescript = join(root, 'node_modules/typescript');
  expect(versionOf(typescript)).toMatch('7.');
  expect(await compile(dir, typescript)).toBe('');
});

// The types of openapi-zod-client take longer than those of all the others together.
test('TypeScript 5.9 compiles them, except openapi-zod-client', async () => {
  const typescript = join(dir, 'node_modules/typescript');
  expect(versionOf(typescript)).toMatch('5.9.');
  expect(await compile(dir, typescript, ['openapi-zod-client'])).toBe('');
});

describe.each(generators)('$title', (generator) => {
  const { name, isPython, section } = generator;

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
    const expected = generator.lacksEvents ? schemaNames.filter((each) => !eventNames.includes(each)) : schemaNames;
    expect(names).toEqual(expect.arrayContaining(expected.map(generator.spelling)));
    // The names of orval and kubb for the responses of an operation end with the status, and the type of a picture.
    const others = names.filter((each) => !/^[a-z]\w*[a-z](?:Response)?[2-5]\d\d(?:Image[a-z]+)?$/i.test(each));
    expect(others.filter((each) => /\d|inline|anonymous/i.test(each))).toEqual([]);
    expect(text).toMatch(generator.libraryPage);
  });

  test.skipIf(isPython && !hasPython)('the program of the page runs as printed', async () => {
    const output = isPython ? await runIn(name, 'python3 src/main.py') : printed[name]?.main;
    expect(output).toMatch(/^\d+ found: Offer\.pdf\b/);
  });

  test.skipIf(isPython && !hasPython)(
    'a program does the main job, reads all pages, and has typed errors',
    async () => {
      const output = isPython ? await runIn(name, 'python3 src/job.py') : printed[name]?.job;
      expect(parseJob(output)).toEqual({
        user: 'Ada',
        items: [['Offer.pdf', 627, null, ['Offers']]],
        total: 1,
        pages: [['Offer.pdf'], ['Terms.pdf']],
        waitingRoom: true,
        events: '["library_item.uploaded"]',
        secret: true,
        conflict: [409, 'CONFLICT', 'A label with this name already exists'],
        invalid: [400, ['name']],
      });
    },
  );
});

describe.each([
  { language: 'Python', command: pythonWithHttpx, args: 'main.py' },
  { language: 'Go', command: go, args: 'run .' },
])('the example in $language', ({ language, command, args }) => {
  test.skipIf(command === null)('does the main job, and removes what it created', async () => {
    const lines = await runIn(join(root, 'examples', language.toLowerCase()), `${command} ${args}`);
    expect(lines.trim().split('\n')).toEqual([
      'Created a room',
      ...[1, 2, 3].map((number) => `Uploaded file ${number}: 627 bytes`),
      'Read a page: 2 of 3 items',
      'Read a page: 1 of 3 items',
      'Refused: CONFLICT (409)',
      'Refused: BAD_REQUEST (400): name',
      'Deleted the room and 3 files',
    ]);
  });
});

/** What a program printed as JSON, or the error that it printed. */
function parseJob(output = ''): unknown {
  return output.startsWith('{') ? JSON.parse(output) : output;
}
