/** Identifiers and texts use the standard words: `max` and not `most`, and no `whoever`. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const TEXTS = [
  '*.md',
  'docs/**/*.md',
  '{src,packages,test,web/src,scripts,bench,examples,ops,tools,deploy}/**/*.{ts,tsx,mjs,md}',
];
const FOREIGN = /(?:^|\/)(?:node_modules|generated|dist|build)\/|vocabulary\.test\.ts$/;
const REPLACED = /\bMOST_|\bmost[A-Z]|\b(?:for|of|to) who\b|\bwhoever\b|\bmend(?:s|ed|ing)?\b|\bdawdl/;

test('no text uses a word that has been replaced', () => {
  const files = globSync(TEXTS, { cwd: root }).filter((path) => !FOREIGN.test(path));
  expect(files.length).toBeGreaterThan(1000);
  const found = files.flatMap((path) =>
    readFileSync(`${root}${path}`, 'utf8')
      .split('\n')
      .flatMap((line, index) => (REPLACED.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
  expect(found).toEqual([]);
});
