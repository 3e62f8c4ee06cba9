/** The imports that the test of the layers finds in a source text. */
import { describe, expect, test } from 'vitest';
import { countRelativePaths, hiddenImportsOf, importsOf } from './imports.ts';

const SOURCE = `/** A comment: import('./comment.ts') */
import a, { type A } from './a.ts';
import {
  b,
  type C,
} from './b.ts';
import './c.ts';
import type { D } from './d.ts';
import * as e from "./e.ts";
import f from './f.json' with { type: 'json' };
import type g from 'g/sub';
// import './comment.ts';
export type { H } from './h.ts';
export * from './i.ts';
export * as j from './j.ts';
export { k, type L } from './k.ts';
export const text = 'from a text';
export function load() {
  return import('./l.ts');
}
type M = typeof import('./m.ts');
const n = await import(
  \`./n.ts\`
);
`;

test('imports are found in every form', () => {
  const found = importsOf(SOURCE);
  expect(found.map(({ specifier }) => specifier)).toEqual([
    ...['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts', './f.json', 'g/sub', './h.ts', './i.ts', './j.ts', './k.ts'],
    ...['./l.ts', './m.ts', './n.ts'],
  ]);
  const types = found.filter(({ isTypeOnly }) => isTypeOnly).map(({ specifier }) => specifier);
  expect(types).toEqual(['./d.ts', 'g/sub', './h.ts', './m.ts']);
});

test('relative paths are counted wherever they are', () => {
  expect(countRelativePaths(`import './a.ts';\nconst b = ["../b.mjs", \`./c.js\`, './d', 'e.ts', '.ts'];`)).toBe(3);
});

describe('a form that hides the module is found:', () => {
  test.each([
    'await import(name)',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
    'await import(`./${name}.ts`)',
    "require('./a.ts')",
    'createRequire(import.meta.url)',
    "import.meta.resolve('./a.ts')",
    "new Worker(new URL('./a.ts', import.meta.url))",
  ])('%s', (form) => {
    expect(hiddenImportsOf(`const a = ${form};`)).toHaveLength(1);
  });

  test('but not in a comment, nor where the module is named', () => {
    expect(
      hiddenImportsOf("// require('a')\nrequireRole(a);\nimport('./a.ts');\nnew URL('../../package.json', b);"),
    ).toEqual([]);
  });
});
