import { execFile } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listDirectory } from '../../src/storage/disk-listing.ts';
import type { DiskFiles } from '../../src/storage/disk-store.ts';
import { createDiskStore } from '../../src/storage/disk-store.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { StorageUnavailableError } from '../../src/storage/object-store.ts';
import { describeObjectStore } from './object-store.suite.ts';
import { listenWithFiles } from './serve-app.ts';
import { byteSource, MIB, readAll, stuckSource } from './sources.ts';

const PDF = { contentType: 'application/pdf' };
const signingSecret = 'a secret of the tests';

/** A store in a folder of its own, with a clock that the test moves. */
async function openStore() {
  const root = await mkdtemp(join(tmpdir(), 'disk-store-'));
  const clock = { time: Date.now(), now: () => new Date(clock.time) };
  const store = await createDiskStore({ root, signingSecret, clock });
  return { root, clock, store };
}

/** A store whose folders went away after it was opened, as when a disk is unmounted. */
async function unmountedStore(): Promise<ObjectStore & DiskFiles> {
  const { root, store } = await openStore();
  await rm(root, { recursive: true });
  return store;
}

const everything = {
  verifiesSignatures: true,
  servesSuffixRanges: true,
  answersHead: true,
  listsUploads: true,
  listsInByteOrder: true,
  sendsNosniff: true,
};

describeObjectStore('disk store', everything, async () => {
  const { root, clock, store } = await openStore();
  const { app, origin } = await listenWithFiles(store);
  return {
    store,
    origin,
    broken: { 'missing root': await unmountedStore() },
    countStaged: async () => (await readdir(join(root, 'staging'))).length,
    expire: async (seconds) => {
      clock.time += seconds * 1000;
    },
    close: async () => {
      await app.close();
      await rm(root, { recursive: true });
    },
  };
});

describe('disk store, on its disk', () => {
  let root: string;
  let store: ObjectStore & DiskFiles;

  beforeAll(async () => {
    ({ root, store } = await openStore());
  });
  afterAll(() => rm(root, { recursive: true }));

  test('an upload never holds more than 4 MiB, however fast its source is', async () => {
    const staging = join(root, 'staging');
    let max = 0;
    const onBlock = (pulled: number) => {
      const [name] = readdirSync(staging);
      const written = name === undefined ? undefined : statSync(join(staging, name), { throwIfNoEntry: false })?.size;
      if (written !== undefined) max = Math.max(max, pulled - written);
    };
    await store.put('memory/object', byteSource(64 * MIB, { onBlock }), PDF);
    expect(max).toBeGreaterThan(0);
    expect(max).toBeLessThanOrEqual(4 * MIB);
  });

  test('a disk that refuses bytes half-way says StorageUnavailableError and leaves nothing', async () => {
    // A limit on the size of files makes real writes stop short and then fail, like a full disk, for this child only.
    const script = `
      import { readdirSync, statSync } from 'node:fs';
      import { createDiskStore } from '${import.meta.resolve('../../src/storage/disk-store.ts')}';
      import { byteSource } from '${import.meta.resolve('./sources.ts')}';
      const [root, size] = process.argv.slice(-2);
      const store = await createDiskStore({ root, signingSecret: '${signingSecret}', clock: { now: () => new Date() } });
      const source = byteSource(Number(size));
      const outcome = await store.put('a/b', source, { contentType: 'x/y' }).then(
        () => statSync(root + '/objects/a/b').size === Number(size),
        (error) => [error.name, error.cause?.code, source.destroyed, readdirSync(root + '/staging').length],
      );
      process.stdout.write(JSON.stringify(outcome));`;
    const limited = 'ulimit -f 5001 && exec "$0" --input-type=module -e "$1" "$2" "$3"';
    const refused = ['StorageUnavailableError', 'EFBIG', true, 0];
    const putLimited = async (size: number): Promise<unknown> => {
      const args = ['-c', limited, process.execPath, script, join(root, `limited-${size}`), String(size)];
      return JSON.parse((await promisify(execFile)('sh', args)).stdout);
    };
    expect(await putLimited(20 * MIB)).toEqual(refused);
    // Shells count the limit in blocks of 512 or 1024 bytes. One of these ends in its very last write, which the disk
    // takes in part: an upload that counted as done would be cut off.
    const outcomes = await Promise.all([putLimited(5001 * 512 + 100), putLimited(5001 * 1024 + 100)]);
    expect(outcomes.at(-1)).toEqual(refused);
    for (const outcome of outcomes) expect([true, refused]).toContainEqual(outcome);
  });

  test('an upload whose place is taken by a folder fails, and its staging file goes', async () => {
    await mkdir(join(root, 'objects', 'taken', 'inside'), { recursive: true });
    await expect(store.put('taken', byteSource(10), PDF)).rejects.toThrow(StorageUnavailableError);
    expect(await readdir(join(root, 'staging'))).toEqual([]);
  });

  test('a copy whose place is taken by a folder fails, and its staging file goes', async () => {
    await store.put('copied/from', byteSource(10), PDF);
    await mkdir(join(root, 'objects', 'occupied', 'inside'), { recursive: true });
    await expect(store.copy('copied/from', 'occupied')).rejects.toThrow(StorageUnavailableError);
    expect(await readdir(join(root, 'staging'))).toEqual([]);
  });

  test('what a killed server left in staging is never listed, and goes when it is old', async () => {
    const staged = join(root, 'staging', 'left-over');
    await writeFile(staged, 'half');
    const yesterday = new Date(Date.now() - 86_400_000);
    await utimes(staged, yesterday, yesterday);
    const putting = store.put('stale/object', stuckSource(MIB), { ...PDF, signal: AbortSignal.timeout(100) });
    await store.removeStaleUploads(new Date(Date.now() - 3_600_000));
    expect(await readdir(join(root, 'staging'))).not.toContain('left-over');
    await expect(putting).rejects.toThrow();
    expect(await readAll(store.list('stale'))).toEqual([]);
  });

  test('a folder larger than a page of names is listed whole and in order', async () => {
    const folder = join(root, 'objects', 'many');
    await mkdir(folder);
    const names = Array.from({ length: 500 }, (_, index) => (index * 7919).toString(36));
    for (const name of names) await writeFile(join(folder, name), '');
    await mkdir(join(folder, '3-folder'));
    await writeFile(join(folder, '3-folder', 'inside'), '');
    const keys = [...names, '3-folder/inside'].map((name) => `many/${name}`).sort();
    for (const page of [1, 7, 250, 501, 1000]) {
      expect(await readAll(listDirectory(join(root, 'objects'), 'many/', page))).toEqual(keys);
    }
  });

  test('files that are no objects are not listed', async () => {
    const folder = join(root, 'objects', 'mixed');
    await mkdir(folder);
    for (const name of ['.DS_Store', 'README', 'ours']) await writeFile(join(folder, name), '');
    expect(await readAll(store.list('mixed'))).toEqual(['mixed/ours']);
  });

  test('a root that is no folder, and a secret that can be guessed, are refused at once', async () => {
    const clock = { now: () => new Date() };
    await writeFile(join(root, 'file'), '');
    const onFile = createDiskStore({ root: join(root, 'file'), signingSecret, clock });
    await expect(onFile).rejects.toThrow(StorageUnavailableError);
    await expect(createDiskStore({ root, signingSecret: 'short', clock })).rejects.toThrow(RangeError);
  });
});
