/**
 * No feature builds its statements from the SQL of another: it calls a function of the other feature. The tables and
 * columns that a feature reads are visible in its own statements.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { partOf, resolve } from './layers.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Conditions and columns that only read. They say what a state of a row means, in one place. */
const EXPRESSIONS = [
  'src/features/booking-pages/host-calendar.ts holdsTime',
  'src/features/livekit/connection.ts livekitOf',
  'src/features/livekit/rooms.ts serversOfRoom',
  'src/features/peers/media.ts isSeated',
  'src/features/peers/media.ts mediaColumnsOf',
  'src/features/peers/media.ts mediaKind',
  'src/features/peers/media.ts mediaOrigin',
  'src/features/peers/media.ts seatsTaken',
  'src/features/recordings/upload.ts isStarterRemoved',
];

/** Parts of statements, and why a function cannot replace them. */
const PARTS = {
  // Joining is one statement: it locks the room, then the contact, and emits the events of both in one round trip.
  'src/features/contacts/contact-parts.ts contactParts': ['src/features/participants/joining.ts'],
};

const STARTS = /^(?=export |const |function |async |type |class |\/\*\*)/m;
const NAME = /^export (?:const|function) (\w+)/;
const TEXT = /^export (?:const \w+(?:: string)? =\s*['"`]|function \w+\([^)]*\): string \{)/;
const SQL = /\b(?:select|insert into|delete from|update \w+ (?:\w+ )?set)\b|\bis (?:not )?null\b/;
const PART = /\b(?:insert into|delete from|update \w+ (?:\w+ )?set)\b|\S as \(\s*(?:select|with)\b/;
const IMPORT = /^import \{([^}]*)\} from '([^']+)'/gm;

type Shared = { name: string; importer: string; isPart: boolean };

/** The SQL texts that a file exports, by name, with whether they are more than an expression. */
function sqlTextsOf(text: string): Map<string, boolean> {
  const declared = text.split(STARTS).filter((code) => TEXT.test(code) && SQL.test(code));
  return new Map(declared.map((code) => [NAME.exec(code)?.[1] ?? '', PART.test(code)]));
}

/** The names that a file imports from a file of another part, with the paths of their files. */
function importsOf(path: string, text: string): { name: string; from: string }[] {
  return [...text.matchAll(IMPORT)].flatMap(([, names = '', specifier = '']) => {
    const from = resolve(path, specifier);
    if (!from.startsWith('src/') || partOf(from) === partOf(path)) return [];
    return names.split(',').map((name) => ({ name: name.trim().replace(/ as .*/, ''), from }));
  });
}

const files = new Map(
  await Promise.all(
    (await readdir(join(root, 'src/features'), { recursive: true }))
      .filter((path) => path.endsWith('.ts'))
      .map(async (path): Promise<[string, string]> => {
        const name = posix.join('src/features', path.replaceAll('\\', '/'));
        return [name, await readFile(join(root, name), 'utf8')];
      }),
  ),
);

const shared = [...files].flatMap(([importer, text]) =>
  importsOf(importer, text).flatMap(({ name, from }): Shared[] => {
    const isPart = sqlTextsOf(files.get(from) ?? '').get(name);
    return isPart === undefined ? [] : [{ name: `${from} ${name}`, importer, isPart }];
  }),
);

describe('between features', () => {
  test('only the listed expressions are imported', () => {
    const names = new Set(shared.filter(({ isPart }) => !isPart).map(({ name }) => name));
    expect([...names].sort()).toEqual(EXPRESSIONS);
  });

  test('no part of a statement is imported, besides the listed one', () => {
    const parts = Map.groupBy(
      shared.filter(({ isPart }) => isPart),
      ({ name }) => name,
    );
    expect(Object.fromEntries([...parts].map(([name, uses]) => [name, uses.map(({ importer }) => importer)]))).toEqual(
      PARTS,
    );
  });
});

describe('a text with SQL', () => {
  test.each([
    ['export const parts = `\n  added as (\n    insert into rooms (name) select name from allowed)`;', true],
    ["export const parts = 'update rooms set name = $name';", true],
    ['export const parts = `\n  known as (\n    select id from people)`;', true],
    ["export function toParts(name: string): string {\n  return name + ' as (select 1)';\n}", true],
    ["export const isSeated = 'g.seated_at is not null';", false],
    ['export const count = `(select count(*) from rooms)`;', false],
  ])('is found: %s', (code, isPart) => {
    expect([...sqlTextsOf(`${code}\n\n/** Another. */\nexport const other = 'Rooms';\n`).values()]).toEqual([isPart]);
  });

  test.each([
    "export const message = 'The room is full';",
    "export const statement = declare('find-room', { sql: 'select id from rooms' });",
    "const own = 'select id from rooms';",
  ])('is none, or not exported: %s', (code) => {
    expect([...sqlTextsOf(code)]).toEqual([]);
  });

  test('is found in an import from another feature, and not in one of its own', () => {
    const text = "import { a, b as c } from '../contacts/parts.ts';\nimport { d } from './own.ts';\n";
    expect(importsOf('src/features/rooms/probe.ts', text)).toEqual([
      { name: 'a', from: 'src/features/contacts/parts.ts' },
      { name: 'b', from: 'src/features/contacts/parts.ts' },
    ]);
  });
});
