/**
 * No pattern of the service looks for a run of characters at the end of a text, such as `/ +$/`: on a text with a long
 * run elsewhere it takes a time that grows with the square of the length, because each character of the run is tried as
 * its beginning. A lookbehind ends these attempts: `/(?<! ) +$/`.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const src = fileURLToPath(new URL('../../src/', import.meta.url));
const RUN_AT_END = /(\[(?:[^\]\\]|\\.)+\]|\\.|[^)\]\\.])[+*]\$[/|)]/g;

/** The patterns in a line that are slow. Those that begin at the start of the text are not. */
function slowPatternsIn(line: string): string[] {
  return [...line.matchAll(RUN_AT_END)].flatMap((match) => {
    const before = line.slice(0, match.index);
    return /[/'"`]\^/.test(before) || before.endsWith(`(?<!${match[1]})`) ? [] : match[0];
  });
}

test('no pattern takes a time that grows with the square of the length of its text', async () => {
  const paths = (await readdir(src, { recursive: true })).filter((path) => /(?<!\.d)\.ts$/.test(path)).sort();
  const found: string[] = [];
  for (const path of paths.filter((path) => !path.startsWith('db/generated/')))
    for (const line of (await readFile(join(src, path), 'utf8')).split('\n'))
      for (const pattern of slowPatternsIn(line)) found.push(`${path}: ${pattern}`);
  expect(found).toEqual([]);
});

test.each([String.raw`/[.\s]+$/u`, String.raw`/\/+$/`, '/ *$/', String.raw`/^ +|\s+$/g`.slice(1)])(
  '%s is found',
  (text) => {
    expect(slowPatternsIn(`text.replace(${text}, '')`)).toHaveLength(1);
  },
);

test.each([String.raw`/(?<![.\s])[.\s]+$/u`, String.raw`/^[\w-]+$/`, '/-.*$/', '/(?<! ) +$/'])('%s is not', (text) => {
  expect(slowPatternsIn(`text.replace(${text}, '')`)).toEqual([]);
});
