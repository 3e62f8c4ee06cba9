/** The memory limits and the compile cache of a process that is started with plain `node`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('fixtures/prepared-process.ts', import.meta.url));

type Prepared = { pid: number; args: string[]; options: string[]; heapMib: number; cache?: string };

/** Runs the script, and returns what it prints, and the process ID that it was started with. */
async function run(options: string[], env: Record<string, string> = {}, channel = false) {
  const child = spawn(process.execPath, [...options, script, 'an argument'], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit', ...(channel ? ['ipc' as const] : [])],
  });
  // `stdio` requests this stream.
  const output = text(child.stdout as NodeJS.ReadableStream);
  await once(child, 'close');
  return { startedPid: child.pid, ...(JSON.parse(await output) as Prepared) };
}

test('a process gets the limits, and keeps its ID, its arguments and its options', async () => {
  const { pid, startedPid, args, options, heapMib } = await run(['--no-warnings']);
  expect(pid).toBe(startedPid);
  expect(args).toEqual(['an argument']);
  expect(options).toEqual(['--no-warnings', '--max-semi-space-size=16', '--max-old-space-size=512']);
  // The limit of the old generation, and three semi-spaces of 16 MiB.
  expect(heapMib).toBe(560);
});

test('a limit on the command line or in NODE_OPTIONS takes precedence', async () => {
  const own = await run(['--max_old_space_size=300'], { NODE_OPTIONS: '--max-semi-space-size=8' });
  expect([own.options, own.heapMib]).toEqual([['--max_old_space_size=300'], 324]);
  const oneOfTwo = await run([], { NODE_OPTIONS: '--max-old-space-size=300' });
  expect([oneOfTwo.options, oneOfTwo.heapMib]).toEqual([['--max-semi-space-size=16'], 348]);
});

test('a process with a channel to its parent keeps the channel, and gets no limits', async () => {
  expect((await run([], {}, true)).options).toEqual([]);
});

test('compiled modules are cached in node_modules, or where NODE_COMPILE_CACHE says', async () => {
  expect((await run([])).cache).toMatch(/node_modules\/\.cache\/compiled/);
  const directory = fileURLToPath(new URL('../../node_modules/.cache/other', import.meta.url));
  expect((await run([], { NODE_COMPILE_CACHE: directory })).cache).toMatch(/\.cache\/other/);
});
