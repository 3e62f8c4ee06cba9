/** The packed client, as another project gets it. */
import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { packPackage } from '../../scripts/pack-package.ts';

export const run = promisify(execFile);
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Packs the client into `dir`, which builds it. Returns the path of the packed file. */
export async function packClient(dir: string): Promise<string> {
  return (await packPackage('@lynxroom/client', dir)).path;
}

/** Installs a packed client in the project `dir` without npm. Other packages are those of this repository. */
export async function installClient(packed: string, dir: string): Promise<string> {
  const installed = join(dir, 'node_modules/@lynxroom/client');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', packed, '-C', installed, '--strip-components=1']);
  for (const name of ['@trpc', '@types'])
    await symlink(join(root, 'node_modules', name), join(dir, 'node_modules', name));
  return installed;
}

/** The TypeScript examples of a page, as printed, in their order. */
export function examplesOf(page: string): string[] {
  return [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
}
