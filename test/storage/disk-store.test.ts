import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DiskFiles } from '../../src/storage/disk-store.ts';
import { createDiskStore } from '../../src/storage/disk-store.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { StorageUnavailableError } from '../../src/storage/object-store.ts';
import { describeObjectStore } from './object-store.suite.ts';
import { listenWithFiles } from './serve-app.ts';
import { byteSource, MIB, readAll } from './sources.ts';

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

describeObjectStore(
  'disk store',
  {
    verifiesSignatures: true,
    servesSuffixRanges: true,
    listsUploads: true,
    listsInByteOrder: true,
    sendsNosniff: true,
  },
  async () => {
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
  },
);

describe('disk store, on its disk', () => {
  let root: string;
  let store: ObjectStore & DiskFiles;

  beforeAll(async () => {
    ({ root, store } = await openStore());
  });
  afterAll(() => rm(root, { recursive: true }));

  test('an upload never holds more than 4 MiB, however slow the disk', async () => {
    let most = 0;
    const staging = join(root, 'staging');
    const path = async () => join(staging, (await readdir(staging))[0] ?? '');
    let staged: string | undefined;
    const source = byteSource(64 * MIB, {
      onBlock: (pulled) => {
        if (staged !== undefined)
          most = Math.max(most, pulled - (statSync(staged, { throwIfNoEntry: false })?.size ?? pulled));
      },
    });
    const putting = store.put('slow/object', source, PDF);
    staged = await path();
    await putting;
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(4 * MIB);
  });

  test('a full disk says StorageUnavailableError and destroys the source', async () => {
    // Every write to /dev/full fails with ENOSPC; as staging folder it makes a real write fail, not an invented error.
    const full = await openStore();
    const source = byteSource(20 * MIB);
    await rm(join(full.root, 'staging'), { recursive: true });
    await symlink('/dev/full', join(full.root, 'staging'));
    await expect(full.store.put('a', source, PDF)).rejects.toThrow(StorageUnavailableError);
    expect(source.destroyed).toBe(true);
    await rm(full.root, { recursive: true });
  });
});
