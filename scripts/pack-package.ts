/** Packs a package of this repository, as npm publishes it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withLock } from './lock.mjs';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../', import.meta.url));

export type PackedPackage = {
  /** Name and version. */
  id: string;
  /** The path of the packed file. */
  path: string;
  /** Its size in bytes. */
  size: number;
  /** The paths in it. */
  files: string[];
};

/**
 * Builds and packs the package `name` into `dir`. A build writes into the folder of its package, so that one process at
 * a time packs.
 */
export function packPackage(name: string, dir: string): Promise<PackedPackage> {
  const args = ['pack', '--workspace', name, '--json', '--pack-destination', dir];
  return withLock('packing', root, async () => {
    const { stdout } = await run('npm', args, { cwd: root });
    // What the build prints comes first.
    const [{ id, filename, size, files }] = JSON.parse(stdout.slice(stdout.indexOf('[\n')));
    return { id, path: join(dir, filename), size, files: files.map(({ path }: { path: string }) => path) };
  });
}
