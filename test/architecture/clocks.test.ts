/** No code of the service reads the clock of its machine: other machines compare the times that it stores. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const src = fileURLToPath(new URL('../../src/', import.meta.url));
const MACHINE_CLOCK = /\bDate\.now\b|\bnew Date\(\s*\)|(?<!new )\bDate\(\)|\bsystemClock\b/;

/** `lynxroom doctor` compares the two clocks. */
const READERS = ['core/time.ts', 'db/database-clock.ts', 'operator/database-checks.ts'];

test('only the clock of the service, and the check of it, read the clock of the machine', async () => {
  const paths = (await readdir(src, { recursive: true })).filter((path) => /\.ts$/.test(path)).sort();
  const readers: string[] = [];
  for (const path of paths) if (MACHINE_CLOCK.test(await readFile(join(src, path), 'utf8'))) readers.push(path);
  expect(readers.filter((path) => !path.startsWith('db/generated/'))).toEqual(READERS);
});

test.each(['Date.now()', 'new Date()', 'const at = Date()', 'clock = systemClock'])('"%s" is found', (text) => {
  expect(text).toMatch(MACHINE_CLOCK);
});

test.each(['new Date(ms)', 'toDate()', 'performance.now()', 'clock.now()'])('"%s" is not', (text) => {
  expect(text).not.toMatch(MACHINE_CLOCK);
});
