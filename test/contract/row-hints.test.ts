/** The hints say where a missing row, path or number belongs. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { operations, rawOperations } from '../support/api.ts';
import { pathHints, rowHints, statementHint } from './row-hints.ts';

const all = [...operations, ...rawOperations];
// From the operations, not the rows: a missing row should fail only the test that compares the two.
const names = all.map(({ name }) => name);
const paths = all.map(({ method, path }) => `${method} ${path}`);

/** The line of a file that a hint such as `test/contract/rows/labels.ts:12: add after this line` names. */
function lineNamedBy(hint: string): string | undefined {
  const [, file = '', line = ''] = /^(\S+?):(\d+): /.exec(hint) ?? [];
  return readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').split('\n')[Number(line) - 1];
}

test('there is no hint if the lists agree', () => {
  expect([rowHints(names), pathHints(paths)]).toEqual(['', '']);
});

test.each(names)('the hint for %s without a row names the end of another row, and a row to add there', (name) => {
  const hint = rowHints(names.filter((one) => one !== name));
  expect(lineNamedBy(hint)).toMatch(/^ {2}(?:'.*)?\},$/);
  expect(hint).toMatch(
    new RegExp(`: add after this line\n  '${name}': \\{ who: '\\w+', .*keys: true, .*input: .*, writes: .*\\},\n$`),
  );
});

test('the hint for a raw operation suggests content of its type', () => {
  const hintFor = (name: string) => rowHints(names.filter((one) => one !== name));
  expect(hintFor('library.upload')).toMatch(/who: 'member', .*content: \(\) => fileContent\(/);
  expect(hintFor('contacts.import')).toMatch(/who: 'admin', .*content: \(\) => csvContent\(/);
  expect(hintFor('ingest.callback')).toMatch(/who: 'provider', .*content: \(\) => \(\{ body: '' \}\)/);
  expect(hintFor('contacts.export')).not.toContain('content');
});

test('the hint for a feature without rows names its two new files and the index of the rows', () => {
  const others = names.filter((name) => name !== 'retention.read');
  expect(rowHints(others, ['labels.ts']).split('\n')).toEqual([
    'test/contract/rows/, a new file with the name of the router: add',
    '  export const retentionRows: Rows = {',
    expect.stringMatching(/^ {4}'retention\.read': \{ who: .*\},$/),
    '  };',
    'test/contract/operations.ts: import retentionRows, and add ...retentionRows to rows',
    'test/contract/operations/, a new test file with the name of the router: add',
    '  testOperations(retentionRows);',
    '',
  ]);
});

test('the hint for a row or path without an operation says to remove it', () => {
  expect(rowHints([...names, 'gone.read'])).toBe(
    "test/contract/rows/: remove 'gone.read', which the API does not have\n",
  );
  expect(rowHints([...names, 'labels.gone'])).toMatch(/: remove 'labels\.gone', which the API does not have\n$/);
  expect(pathHints([...paths, 'GET /api/gone'])).toMatch(/: remove 'GET \/api\/gone', which the API does not have\n$/);
});

test('the hint for a missing path names the line of the path before it', () => {
  const [before = '', missing = ''] = paths;
  const hint = pathHints(paths.filter((path) => path !== missing));
  expect(lineNamedBy(hint)).toBe(`  '${before}',`);
  expect(hint).toMatch(new RegExp(`: add after this line\n  '${missing}',\n$`));
});

test('the hint for a missing number of statements names the line of another operation of the feature', () => {
  const hint = statementHint('labels.merge', 5);
  expect(lineNamedBy(hint)).toMatch(/^ {2}'labels\.\w+': \d+,$/);
  expect(hint).toMatch(/: add after this line\n {2}'labels\.merge': 5,\n$/);
});

test('CONTRIBUTING.md names the same files', () => {
  const guide = readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8');
  const others = names.filter((name) => name !== 'library.update');
  const hints = [rowHints(others), pathHints(paths.slice(1)), statementHint('library.update', 3)];
  for (const hint of hints) expect(guide).toContain(`\`${hint.split(':', 1)}\``);
});
