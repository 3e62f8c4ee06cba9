/** The limits of memory, which are options of Node: package.json, the image and the units set them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { describeMissingLimits } from '../../src/runtime/memory-limits.ts';
import { startCommand } from '../support/script-process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const LIMITS = '--max-semi-space-size=16 --max-old-space-size=512';

test.each([
  ['package.json', 2],
  ['Dockerfile', 1],
  ['deploy/lynxroom.service', 1],
  ['deploy/lynxroom-worker.service', 1],
])('%s sets them', async (path, times) => {
  const text = await readFile(join(root, path), 'utf8');
  expect(text.split(LIMITS)).toHaveLength(times + 1);
  expect(text.split(/MALLOC_ARENA_MAX=(?:2|\$\{MALLOC_ARENA_MAX:-2\})/)).toHaveLength(times + 1);
});

test('Node takes them from the command line and from NODE_OPTIONS', async () => {
  // The limit of the old generation, and three semi-spaces of 16 MiB.
  const script = 'console.log(require("v8").getHeapStatistics().heap_size_limit / 2 ** 20)';
  const run = async (args: string[], env: Record<string, string>): Promise<string> => {
    const { ended, output } = startCommand([process.execPath, ...args, '--eval', script], env, () => undefined);
    await ended;
    return output().trim();
  };
  expect(await run(LIMITS.split(' '), {})).toBe('560');
  expect(await run([], { NODE_OPTIONS: LIMITS })).toBe('560');
});

test('a process that was started without them says so, and one with higher limits of its own does not', () => {
  expect(describeMissingLimits(560 * 2 ** 20)).toBeNull();
  expect(describeMissingLimits(1_072 * 2 ** 20)).toBeNull();
  expect(describeMissingLimits(4_144 * 2 ** 20)).toMatch(/^The heap may grow to 4144 MiB: start Node with --max-semi/);
});
