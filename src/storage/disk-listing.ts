import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifExists } from '../core/files.ts';
import { isObjectKey } from './object-key.ts';
import type { StoredObject } from './object-store.ts';

const PAGE_SIZE = 20_000;
const MAX_CONCURRENT_STATS = 32;

/**
 * A name in a directory. Names of directories end in `/`, so that sorting the names sorts the whole keys by their
 * bytes.
 */
type Entry = string;

type Listing = { root: string; pageSize: number };

/**
 * Yields every object below `root` whose key begins with `prefix`, in the byte order of the keys, with at most a few
 * megabytes of names in memory. Skips files that are deleted during the listing, and files whose names are not keys.
 * Yields nothing for a prefix that no key can have. Rejects with the file system's error. A directory with more than
 * `pageSize` entries is read in pages.
 */
export async function* listDirectory(root: string, prefix: string, pageSize = PAGE_SIZE): AsyncGenerator<StoredObject> {
  const directory = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  // A prefix such as `a/../..` must not reach the file system.
  if (directory !== '' && !isObjectKey(directory.slice(0, -1))) return;
  yield* walk({ root, pageSize }, directory, prefix.slice(directory.length));
}

async function* walk(listing: Listing, directory: string, namePrefix: string): AsyncGenerator<StoredObject> {
  const { root, pageSize } = listing;
  for await (const page of sortedPages(join(root, directory), namePrefix, pageSize)) {
    let files: string[] = [];
    for (const entry of page) {
      if (!entry.endsWith('/')) {
        files.push(directory + entry);
        if (files.length < MAX_CONCURRENT_STATS) continue;
      }
      yield* describeFiles(root, files);
      files = [];
      if (entry.endsWith('/')) yield* walk(listing, directory + entry, '');
    }
    yield* describeFiles(root, files);
  }
}

/**
 * Yields the entries of a directory in sorted pages. File systems return names unsorted, so a directory larger than a
 * page is read again for each page. This takes more time, but little memory.
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

async function* describeFiles(root: string, keys: string[]): AsyncGenerator<StoredObject> {
  const stats = await Promise.all(keys.map((key) => ifExists(lstat(join(root, key)))));
  for (const [index, key] of keys.entries()) {
    const found = stats[index];
    // A copy is another name of an older file. Its name is as new as the last change of the inode.
    if (found !== undefined) yield { key, size: found.size, modifiedAt: latest(found.mtime, found.ctime) };
  }
}

function latest(a: Date, b: Date): Date {
  return a > b ? a : b;
}
