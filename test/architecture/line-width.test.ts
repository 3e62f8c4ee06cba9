/**
 * No line is wider than the formatter's width. The formatter leaves long strings and comments alone. The guides are
 * checked by `docs.test.ts`.
 */
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { formatter } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'));
const folders = ['src', 'test', 'scripts', 'packages', 'bench', 'examples', '.ci'];
const CODE = /\.(?:tsx?|mjs|cjs)$|^run$/;
/** Code that is generated, and what npm installs. */
const FOREIGN = /[\\/](?:generated|node_modules|dist|build)(?:[\\/]|$)/;
/** A line that is one long word, such as a URL, cannot be broken. */
const UNBREAKABLE = /^\s*\S+$/;

test('no line is wider than the formatter allows', async () => {
  const entries = await Promise.all(
    folders.map((folder) => readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => [])),
  );
  const files = entries
    .flat()
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => CODE.test(path.split(/[\\/]/).at(-1) ?? '') && !FOREIGN.test(path));
  expect(files.length).toBeGreaterThan(300);
  const tooWide = files.flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        [...line].length > formatter.lineWidth && !UNBREAKABLE.test(line)
          ? [`${path.slice(root.length)}:${index + 1} has ${[...line].length} characters`]
          : [],
      ),
  );
  expect(tooWide).toEqual([]);
});
