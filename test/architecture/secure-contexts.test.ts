/**
 * Pages are also served over plain HTTP, where `crypto.randomUUID` does not exist: random names are made of
 * `crypto.getRandomValues`.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

test.each(['web/src', 'packages/client/src'])('no file of %s calls crypto.randomUUID', async (folder) => {
  const paths = (await readdir(join(ROOT, folder), { recursive: true })).filter((path) => /\.tsx?$/.test(path));
  expect(paths.length).toBeGreaterThan(20);
  const found: string[] = [];
  for (const path of paths)
    if ((await readFile(join(ROOT, folder, path), 'utf8')).includes('randomUUID(')) found.push(path);
  expect(found).toEqual([]);
});
