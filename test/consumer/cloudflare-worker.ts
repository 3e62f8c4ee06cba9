/** Does the main job of a client in workerd, which runs Cloudflare Workers. */
import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
// It comes with vitest.
import { rolldown } from 'rolldown';
import { root } from '../client/packed-client.ts';
import { startCommand } from '../support/script-process.ts';

type Task = { url: string; token: string; id: number };

/** `project` is where the packed client is installed, and `toolsDir` where workerd is. Resolves with what was found. */
export async function workInWorker(project: string, toolsDir: string, task: Task): Promise<unknown> {
  const sources = join(project, 'runtimes');
  const cwd = join(sources, 'bundled');
  await cp(join(root, 'test/consumer/runtimes'), sources, { recursive: true });
  await using bundle = await rolldown({ input: join(sources, 'worker.ts') });
  await bundle.write({ file: join(cwd, 'worker.js'), codeSplitting: false });
  await cp(join(sources, 'worker.capnp'), join(cwd, 'worker.capnp'));
  // The path of the program. Each platform has a package of its own.
  const { default: workerd }: { default: string } = createRequire(join(toolsDir, 'package.json'))('workerd');
  const worker = startCommand(
    [workerd, 'serve', 'worker.capnp', '--control-fd=1'],
    {},
    (output) => /"port":(\d+)/.exec(output)?.[1],
    cwd,
  );
  try {
    const port = await worker.ready;
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: JSON.stringify(task) });
    if (!response.ok) throw new Error(`${await response.text()}\n${worker.output()}`);
    return await response.json();
  } finally {
    await worker.end('SIGTERM');
  }
}
