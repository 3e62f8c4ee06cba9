import { execFile } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { type link, mkdir, mkdtemp, readdir, rm, stat, statfs, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listDirectory } from '../../src/storage/disk-listing.ts';
import type { DiskFiles, DiskStoreOptions } from '../../src/storage/disk-store.ts';
import { createDiskStore } from '../../src/storage/disk-store.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { StorageFullError, StorageUnavailableError } from '../../src/storage/object-store.ts';
import { describeObjectStore } from './object-store.suite.ts';
import { listenWithFiles } from './serve-app.ts';
import { byteSource, MIB, readAll, stuckSource } from './sources.ts';

const PDF = { contentType: 'application/pdf' };
const signingSecret = 'a secret for tests only';

/** A store with its own directory, and with a clock that the test controls. */
async function openStore(options: Pick<DiskStoreOptions, 'link' | 'reserveBytes'> = {}) {
  const root = await mkdtemp(join(tmpdir(), 'disk-store-'));
  const clock = { time: Date.now(), now: () => new Date(clock.time) };
  const store = await createDiskStore({ root, signingSecret, clock, ...options });
  return { root, clock, store };
}

/** A store whose directory disappeared after it was opened, as when a disk is unmounted. */
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
    countStaged: async () =>
      (await Promise.all(['staging', 'partial'].map((name) => readdir(join(root, name))))).flat().length,
    expire: async (seconds) => {
      clock.time += seconds * 1000;
    },
    close: async () => {
      await app.close();
      await rm(root, { recursive: true });
    },
  };
});

describe('disk store and its disk', () => {
  let root: string;
  let store: ObjectStore & DiskFiles;

  beforeAll(async () => {
    ({ root, store } = await openStore());
  });
  afterAll(() => rm(root, { recursive: true }));

  test('an upload never buffers more than 4 MiB, however fast its source is', async () => {
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

  test('an upload fails with StorageUnavailableError and leaves nothing if the disk gets full midway', async () => {
    // A limit on the size of files truncates a write and then fails the next, like a full disk, in this child only.
    const script = `
      import { readdirSync, statSync } from 'node:fs';
      import { createDiskStore } from '${import.meta.resolve('../../src/storage/disk-store.ts')}';
      import { byteSource } from '${import.meta.resolve('./sources.ts')}';
      const [root, size] = process.argv.slice(-2);
      const clock = { now: () => new Date() };
      const store = await createDiskStore({ root, signingSecret: '${signingSecret}', clock });
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
    // Shells count the limit in blocks of 512 or 1024 bytes. One of these uploads reaches it in its last write, which
    // is only partial: an upload that succeeded would be truncated.
    const outcomes = await Promise.all([putLimited(5001 * 512 + 100), putLimited(5001 * 1024 + 100)]);
    expect(outcomes.at(-1)).toEqual(refused);
    for (const outcome of outcomes) expect([true, refused]).toContainEqual(outcome);
  });

  test('an upload to the path of a directory fails, and its staging file is removed', async () => {
    await mkdir(join(root, 'objects', 'taken', 'inside'), { recursive: true });
    await expect(store.put('taken', byteSource(10), PDF)).rejects.toThrow(StorageUnavailableError);
    expect(await readdir(join(root, 'staging'))).toEqual([]);
  });

  test('a copy to the path of a directory fails, and its staging file is removed', async () => {
    await store.put('copied/from', byteSource(10), PDF);
    await mkdir(join(root, 'objects', 'occupied', 'inside'), { recursive: true });
    await expect(store.copy('copied/from', 'occupied')).rejects.toThrow(StorageUnavailableError);
    expect(await readdir(join(root, 'staging'))).toEqual([]);
  });

  test('a copy is another name of the same file, needs no space, and is as new as the copy', async () => {
    const { root, store } = await openStore({ reserveBytes: Number.MAX_SAFE_INTEGER });
    const path = (key: string) => join(root, 'objects', key);
    await mkdir(path('linked'));
    await writeFile(path('linked/from'), 'x');
    const lastYear = new Date(Date.now() - 365 * 86_400_000);
    await utimes(path('linked/from'), lastYear, lastYear);
    await store.copy('linked/from', 'linked/deep/to');
    expect((await stat(path('linked/deep/to'))).ino).toBe((await stat(path('linked/from'))).ino);
    // The sweep removes what is older than a day, and has no row yet.
    for await (const { modifiedAt } of store.list('linked/deep'))
      expect(modifiedAt.getTime()).toBeGreaterThan(Date.now() - 60_000);
    // An object never changes, so no copy replaces one.
    await writeFile(path('linked/other'), 'y');
    await expect(store.copy('linked/other', 'linked/deep/to')).rejects.toThrow(StorageUnavailableError);
    expect((await stat(path('linked/deep/to'))).ino).toBe((await stat(path('linked/from'))).ino);
    await rm(root, { recursive: true });
  });

  describe('where the file system cannot give a file another name', () => {
    let code = '';
    const failing: typeof link = () => Promise.reject(Object.assign(new Error(code), { code }));

    test.each(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])(
      'a copy has its own data: %s',
      async (why) => {
        code = why;
        const { root, store } = await openStore({ link: failing });
        await store.put('own/from', byteSource(MIB), PDF);
        await store.copy('own/from', 'own/to');
        const [from, to] = await Promise.all(['from', 'to'].map((name) => stat(join(root, 'objects/own', name))));
        expect(to?.size).toBe(MIB);
        expect(to?.ino).not.toBe(from?.ino);
        expect(await readdir(join(root, 'staging'))).toEqual([]);
        await rm(root, { recursive: true });
      },
    );

    test('a copy that would use the reserve fails, and leaves nothing', async () => {
      code = 'EXDEV';
      const { root, store } = await openStore({ link: failing });
      await store.put('large/from', byteSource(1), PDF);
      const { bavail, bsize } = await statfs(root);
      // The file takes up no blocks, and no space that others free meanwhile is enough for it.
      await truncate(join(root, 'objects/large/from'), 2 * bavail * bsize + MIB);
      await expect(store.copy('large/from', 'large/to')).rejects.toThrow(StorageFullError);
      expect(await readAll(store.list('large'))).toEqual(['large/from']);
      expect(await readdir(join(root, 'staging'))).toEqual([]);
      await rm(root, { recursive: true });
    });

    test('another failure of the file system is not answered by a copy', async () => {
      code = 'EIO';
      const { root, store } = await openStore({ link: failing });
      await store.put('failed/from', byteSource(1), PDF);
      await expect(store.copy('failed/from', 'failed/to')).rejects.toThrow(StorageUnavailableError);
      expect(await readAll(store.list('failed'))).toEqual(['failed/from']);
      await rm(root, { recursive: true });
    });
  });

  test('a staging file of a killed server is never listed, and is removed when it is old', async () => {
    const staged = join(root, 'staging', 'leftover');
    await writeFile(staged, 'half');
    const yesterday = new Date(Date.now() - 86_400_000);
    await utimes(staged, yesterday, yesterday);
    const putting = store.put('stale/object', stuckSource(MIB), { ...PDF, signal: AbortSignal.timeout(100) });
    await store.removeStaleUploads(new Date(Date.now() - 3_600_000));
    expect(await readdir(join(root, 'staging'))).not.toContain('leftover');
    await expect(putting).rejects.toThrow();
    expect(await readAll(store.list('stale'))).toEqual([]);
  });

  test('a directory larger than a page of names is listed completely and in order', async () => {
    const directory = join(root, 'objects', 'many');
    await mkdir(directory);
    const names = Array.from({ length: 500 }, (_, index) => (index * 7919).toString(36));
    for (const name of names) await writeFile(join(directory, name), '');
    await mkdir(join(directory, '3-directory'));
    await writeFile(join(directory, '3-directory', 'inside'), '');
    const keys = [...names, '3-directory/inside'].map((name) => `many/${name}`).sort();
    for (const pageSize of [1, 7, 250, 501, 1000]) {
      expect(await readAll(listDirectory(join(root, 'objects'), 'many/', pageSize))).toEqual(keys);
    }
  });

  test('files that are not objects are not listed', async () => {
    const directory = join(root, 'objects', 'mixed');
    await mkdir(directory);
    for (const name of ['.DS_Store', 'README', 'ours']) await writeFile(join(directory, name), '');
    expect(await readAll(store.list('mixed'))).toEqual(['mixed/ours']);
  });

  test('a root that is not a directory and a short signing secret are rejected when the store is created', async () => {
    const clock = { now: () => new Date() };
    await writeFile(join(root, 'file'), '');
    const onFile = createDiskStore({ root: join(root, 'file'), signingSecret, clock });
    await expect(onFile).rejects.toThrow(StorageUnavailableError);
    await expect(createDiskStore({ root, signingSecret: 'short', clock })).rejects.toThrow(RangeError);
  });
});
