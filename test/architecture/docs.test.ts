/** The guides refer to files, headings and code that exist. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pages = globSync(['*.md', 'docs/**/*.md', 'packages/*/*.md'], { cwd: root }).sort();

const MAX_LINE_LENGTH = 120;

/** A path in backticks, such as `src/server.ts` or `docs/decisions/`. Placeholders (`<feature>`, `*`) do not match. */
const PATH = /`((?:src|test|docs|prisma|scripts|bench|examples|packages|tools)\/[\w./-]+)`/g;
/** A diagram, and a file that it names without backticks, such as `participant rest as src/http/rest.ts`. */
const DIAGRAM = /^```mermaid\n(.*?)^```$/gms;
const FILE_IN_DIAGRAM = /\bsrc\/[\w./-]+\.ts\b/g;
const LINK = /\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g;
/** A block whose first line names its file. */
const FILE_BLOCK = /^```ts\n\/\/ (\S+)\n(.*?)^```$/gms;
/** What generators write. `test/generated-clients` compiles the examples that import it. */
const GENERATED = /^src\/lynxroom(?:\.ts$|\/)/;
const IMPORT = /^import (?:type )?\{([^}]+)\} from '(\.[^']+)';$/gm;

function read(path: string): string {
  return readFileSync(posix.join(root, path), 'utf8');
}

function withoutCode(text: string): string {
  return text.replace(/^ *```.*?^ *```$/gms, '');
}

/** The anchors of a page, made from its headings as GitHub makes them. */
function anchorsOf(page: string): string[] {
  return [...withoutCode(read(page)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Code without the folders of its imports, and with its imports in an order that does not depend on them. */
function withoutFolders(code: string): string {
  const lines = code.replaceAll(/ from '\.[^']*\/([^/']+)';$/gm, " from './$1';").split('\n');
  const isImport = (line: string): boolean => line.startsWith('import ');
  return [...lines.filter(isImport).sort(), ...lines.filter((line) => !isImport(line))].join('\n').trim();
}

/** The files that a page tells its reader to create. */
function filesToCreate(text: string): string[] {
  return [...text.matchAll(FILE_BLOCK)].map(([, path = '']) => path);
}

function doesExport(path: string, name: string): boolean {
  return new RegExp(`^export (?:async )?(?:function\\*?|class|const|type|interface) ${name}\\b`, 'm').test(read(path));
}

test('all guides are read', () => {
  expect(pages).toEqual(expect.arrayContaining(['CONTRIBUTING.md', 'README.md', 'docs/architecture.md']));
  expect(filesToCreate(read('CONTRIBUTING.md'))).toHaveLength(2);
});

// `npm run check` compiles the copies.
test('the example of CONTRIBUTING.md is the code that is compiled', () => {
  const guide = read('CONTRIBUTING.md');
  const blocks = [...guide.matchAll(FILE_BLOCK)].map(([, path = '', code = '']) => ({ path, code }));
  const compiled = ['clear-labels.ts', 'clear-labels-test.ts'];
  expect(blocks.map(({ path }) => posix.basename(path).replace('.test.ts', '-test.ts'))).toEqual(compiled);
  for (const [index, file] of compiled.entries())
    expect(withoutFolders(blocks[index]?.code ?? '')).toBe(withoutFolders(read(`test/docs/worked-example/${file}`)));
  const added = /^```ts\n(export const ClearedLabels.*?)^```$/ms.exec(guide)?.[1];
  expect(read('test/docs/worked-example/schemas.ts')).toContain(added ?? guide);
});

describe.each(pages)('%s', (page) => {
  const text = read(page);

  test('names only files that exist', () => {
    const diagrams = [...text.matchAll(DIAGRAM)].map(([, diagram = '']) => diagram).join('');
    const inDiagrams = diagrams.match(FILE_IN_DIAGRAM) ?? [];
    const named = [...inDiagrams, ...[...withoutCode(text).matchAll(PATH)].map(([, path = '']) => path)];
    const known = (path: string): boolean => existsSync(posix.join(root, path)) || filesToCreate(text).includes(path);
    expect(named.filter((path) => !known(path))).toEqual([]);
  });

  test('links only to pages and headings that exist', () => {
    const broken = [...withoutCode(text).matchAll(LINK)].filter(([, path = '', anchor]) => {
      const target = path === '' ? page : posix.join(posix.dirname(page), path);
      if (!existsSync(posix.join(root, target))) return true;
      return anchor !== undefined && !anchorsOf(target).includes(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  test('imports only what exists, in its examples', () => {
    const imports = [...text.matchAll(FILE_BLOCK)].flatMap(([, path = '', code = '']) =>
      [...code.matchAll(IMPORT)].flatMap(([, names = '', specifier = '']) =>
        names.split(',').map((name) => ({
          file: posix.join(posix.dirname(path), specifier),
          name: name.replace(/^\s*type /, '').trim(),
        })),
      ),
    );
    const missing = imports
      .filter(({ file }) => !GENERATED.test(file))
      .filter(({ file, name }) => !existsSync(posix.join(root, file)) || !doesExport(file, name));
    // The example adds this schema itself.
    expect(missing.filter(({ name }) => !text.includes(`export const ${name} = `))).toEqual([]);
  });

  test('ends with a line break, and has no space at the end of a line', () => {
    expect(text).toMatch(/[^\n]\n$/);
    expect(text).not.toMatch(/[ \t]\n/);
  });

  test('has no line that is too long', () => {
    expect(text.split('\n').filter((line) => line.length > MAX_LINE_LENGTH)).toEqual([]);
  });
});
