import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const MIB = 1024 * 1024;

const script = `
  const { startThread } = await import(process.argv[1]);
  const thread = startThread();
  thread.ref();
  await new Promise((resolve) => thread.once('online', resolve));
  console.log((await thread.getHeapStatistics()).heap_size_limit);
  await thread.terminate();`;

test('a thread has its own limit of memory, whatever that of the process is', async () => {
  const modules = new URL('../../src/media/media-threads.ts', import.meta.url).href;
  const args = ['--max-old-space-size=512', '--input-type=module', '--eval', script, modules];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(Number(stdout)).toBeGreaterThan(100 * MIB);
  expect(Number(stdout)).toBeLessThan(300 * MIB);
});
