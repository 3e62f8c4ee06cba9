/** Every operation has a row, and every feature has its files, so that nothing in this folder misses one. */
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

test('every procedure and every raw operation has a row, and no other', () => {
  const names = [...operations, ...rawOperations].map(({ name }) => name);
  expect(Object.keys(rows).sort(), rowHints()).toEqual(names.sort());
});

test('every router has a file of rows, and a test of these rows', () => {
  expect(filesIn('rows')).toEqual(features);
  const tests = features.map((name) => name.replace(/\.ts$/, '.test.ts'));
  expect(filesIn('operations').filter((name) => name.endsWith('.test.ts'))).toEqual(tests);
});

test('a raw operation takes content exactly if its row has some', () => {
  for (const [name, row] of Object.entries(rows)) {
    const takesContent = (findRawOperation(name)?.request.kind ?? 'none') !== 'none';
    expect([name, row.content !== undefined]).toEqual([name, takesContent]);
  }
});
