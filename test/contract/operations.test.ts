/** Every operation has a row, and every feature has its files, so that the tests in this folder cover all of them. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { operations, rawOperations } from '../support/api.ts';
import { rows } from './operations.ts';
import { rowHints } from './row-hints.ts';
import { findRawOperation } from './transports.ts';

/** The names of the files in a folder beside this one. */
function filesIn(folder: string): string[] {
  return readdirSync(new URL(folder, import.meta.url)).filter((name) => name.endsWith('.ts'));
}

const features = filesIn('../../src/routers').filter((name) => name !== 'index.ts');

test('the rows are exactly the procedures and raw operations of the API', () => {
  const names = [...operations, ...rawOperations].map(({ name }) => name);
  expect(Object.keys(rows).sort(), rowHints()).toEqual(names.sort());
});

test('every router has a file of rows and a test of these rows', () => {
  expect(filesIn('rows')).toEqual(features);
  const tests = features.map((name) => name.replace(/\.ts$/, '.test.ts'));
  expect(filesIn('operations').filter((name) => name.endsWith('.test.ts'))).toEqual(tests);
});

test('a row has content if and only if it is of a raw operation that takes a body', () => {
  for (const [name, row] of Object.entries(rows)) {
    const takesContent = (findRawOperation(name)?.request.kind ?? 'none') !== 'none';
    expect([name, row.content !== undefined]).toEqual([name, takesContent]);
  }
});
