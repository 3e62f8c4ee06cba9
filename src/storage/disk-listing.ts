import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifExists } from '../core/files.ts';
import { isObjectKey } from './object-key.ts';
import type { StoredObject } from './object-store.ts';

const NAMES_IN_MEMORY = 20_000;
const STATS_AT_ONCE = 32;

/** A name in one folder; a folder's name ends in `/`, which is what puts siblings into the byte order of whole keys. */
type Entry = string;

type Listing = { root: string; namesInMemory: number };

/**
 * Every object below `root` whose key begins with `prefix`, in the byte order of the keys, at most a few megabytes of
 * names in memory. What vanishes meanwhile is left out; files whose names are no keys are none of ours.
 * A prefix that no key can have yields nothing. Rejects with the file system's error.
 * `namesInMemory` is the page by which one large folder is read.
 */
export async function* listFolder(
  root: string,
  prefix: string,
  namesInMemory = NAMES_IN_MEMORY,
): AsyncGenerator<StoredObject> {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  // The root is not probed through the prefix: `a/../..` must not reach the file system.
  if (folder !== '' && !isObjectKey(folder.slice(0, -1))) return;
  yield* walk({ root, namesInMemory }, folder, prefix.slice(folder.length));
}

async function* walk(listing: Listing, folder: string, namePrefix: string): AsyncGenerator<StoredObject> {
  const { root, namesInMemory } = listing;
  for await (const page of sortedPages(join(root, folder), namePrefix, namesInMemory)) {
    let files: string[] = [];
    for (const entry of page) {
      if (!entry.endsWith('/')) {
        files.push(folder + entry);
        if (files.length < STATS_AT_ONCE) continue;
      }
      yield* describe(root, files);
      files = [];
      if (entry.endsWith('/')) yield* walk(listing, folder + entry, '');
    }
    yield* describe(root, files);
  }
}

/**
 * The entries of one folder, sorted, in pages. A folder larger than a page is read once for each page: time for memory,
 * since a file system returns names in no useful order.
 */
async function* sortedPages(path: string, namePrefix: string, size: number): AsyncGenerator<Entry[]> {
  let after = '';
  for (;;) {
    const { page, isLast } = await smallestEntries(path, namePrefix, after, size);
    yield page;
    const last = page.at(-1);
    if (isLast || last === undefined) return;
    after = last;
  }
}

async function smallestEntries(
  path: string,
  namePrefix: string,
  after: Entry,
  size: number,
): Promise<{ page: Entry[]; isLast: boolean }> {
  let page: Entry[] = [];
  let isLast = true;
  const keepSmallest = () => {
    page.sort();
    if (page.length > size) isLast = false;
    page = page.slice(0, size);
  };
  const directory = await ifExists(opendir(path, { bufferSize: 256 }));
  if (directory === undefined) return { page, isLast };
  for await (const found of directory) {
    if (!found.name.startsWith(namePrefix) || !isObjectKey(found.name)) continue;
    const entry = found.isDirectory() ? `${found.name}/` : found.name;
    if (entry <= after || !(found.isDirectory() || found.isFile())) continue;
    page.push(entry);
    if (page.length >= 2 * size) keepSmallest();
  }
  keepSmallest();
  return { page, isLast };
}

async function* describe(root: string, keys: string[]): AsyncGenerator<StoredObject> {
  const stats = await Promise.all(keys.map((key) => ifExists(lstat(join(root, key)))));
  for (const [index, key] of keys.entries()) {
    const found = stats[index];
    if (found !== undefined) yield { key, size: found.size, modifiedAt: found.mtime };
  }
}
