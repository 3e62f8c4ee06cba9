/** The files of the disk store, read from the disk, so that a wrapped store cannot hide them. */
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { TestApp } from './test-app.ts';

/** Lists the keys of the stored objects of one workspace, or of all. */
export async function storedKeys({ filesDir }: TestApp, workspaceId?: number): Promise<string[]> {
  const root = join(filesDir, 'objects');
  const paths =
    workspaceId === undefined
      ? await filesIn(root)
      : await filesIn(join(root, 'v1/workspaces', String(workspaceId))).catch(() => []);
  return paths.map((path) => relative(root, path));
}

/** Lists the paths of files that are being written. */
export function stagedIn({ filesDir }: TestApp): Promise<string[]> {
  return filesIn(join(filesDir, 'staging'));
}

async function filesIn(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
