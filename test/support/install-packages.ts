/** Installs packages from the registry, for tests that `npm test` does not run. */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { root, run } from '../client/packed-client.ts';

/** Copies a directory of this repository, such as `tools/browser-test`, and installs what its lock file names. */
export async function installPackages(from: string, to: string): Promise<void> {
  const filter = (path: string) => !/\/(?:node_modules|dist|\.next)(?:\/|$)/.test(path);
  await cp(join(root, from), to, { recursive: true, filter });
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: to });
}
