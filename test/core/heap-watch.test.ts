import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const module = fileURLToPath(new URL('../../src/core/heap-watch.ts', import.meta.url));

/** Fills the heap until it is reported as full, drops everything, and waits until it is not. */
const script = `
  const { isHeapFull } = await import(process.argv[1]);
  const { setTimeout: sleep } = await import('node:timers/promises');
  const untilIt = async (is, step) => { while (isHeapFull() !== is) { step(); await sleep(25); } };
  let kept = [];
  await untilIt(true, () => kept.push(Array.from({ length: 20_000 }, () => ({}))));
  kept = [];
  await untilIt(false, () => {});
  console.log('done');
`;

test('the heap is full before V8 ends the process, and not once its memory is free again', async () => {
  const args = ['--max-old-space-size=64', '--max-semi-space-size=1', '--input-type=module', '--eval', script, module];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe('done\n');
});
