import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { byteSource, hashOf, MIB, stuckSource, until } from './sources.ts';

/** What the server of a store supports. The rest is tested with other servers. */
export type Capabilities = {
  verifiesSignatures: boolean;
  servesSuffixRanges: boolean;
  /** Whether it answers HEAD for a URL that was signed for GET. */
  answersHead: boolean;
  listsUploads: boolean;
  listsInByteOrder: boolean;
  sendsNosniff: boolean;
};

/** What the tests of uploads need. `store` is only available when tests run. */
export type UploadTools = {
  can: Capabilities;
  readonly store: ObjectStore;
  newKey(label: string): string;
  /** Fetches an object through a signed URL. */
  get(key: string): Promise<Response>;
  /** The number of staged uploads. Always 0 if the server cannot list them. */
  countStaged(): Promise<number>;
  /** Fails if an object is readable or listed under the key. */
  expectNothing(key: string): Promise<void>;
};

/** Defines a test only if the server supports what it checks. */
export function testIf(can: boolean): (name: string, run: () => Promise<void>) => void {
  return can ? test : () => {};
}

const PDF = { contentType: 'application/pdf' };

/** Tests the guarantees of `put` and `removeStaleUploads`. */
export function testUploads(at: UploadTools): void {
  test('an object of 120 MB is stored unchanged', { timeout: 60_000 }, async () => {
    const key = at.newKey('large');
    await at.store.put(key, byteSource(120 * MIB), PDF);
    const answer = await at.get(key);
    expect(await hashOf(answer.body ?? Readable.from([]))).toBe(await hashOf(byteSource(120 * MIB)));
  });

  test('concurrent uploads do not affect each other', async () => {
    const sizes = [0, 1, 100_000, 8 * MIB, 8 * MIB + 1, 3 * MIB, 17 * MIB];
    const keys = sizes.map(() => at.newKey('concurrent'));
    await Promise.all(keys.map((key, index) => at.store.put(key, byteSource(sizes[index] ?? 0), PDF)));
    for (const [index, key] of keys.entries()) {
      const body = (await at.get(key)).body;
      expect(await hashOf(body ?? Readable.from([]))).toBe(await hashOf(byteSource(sizes[index] ?? 0)));
    }
  });

  for (const size of [3 * MIB, 20 * MIB]) {
    test(`an abort after ${size / MIB} MiB leaves nothing`, async () => {
      const key = at.newKey('abort');
      const abort = new AbortController();
      const source = stuckSource(size);
      const staged = await at.countStaged();
      const putting = at.store.put(key, source, { ...PDF, signal: abort.signal });
      setTimeout(() => abort.abort(new Error('hung up')), 100);
      await expect(putting).rejects.toThrow('hung up');
      expect(source.destroyed).toBe(true);
      await at.expectNothing(key);
      expect(await at.countStaged()).toBe(staged);
    });

    test(`an error of the source after ${size / MIB} MiB is rethrown unchanged and leaves nothing`, async () => {
      const key = at.newKey('source-error');
      const failure = new Error('the client went away');
      const source = stuckSource(size);
      const staged = await at.countStaged();
      const putting = at.store.put(key, source, PDF);
      setTimeout(() => source.destroy(failure), 100);
      await expect(putting).rejects.toBe(failure);
      await at.expectNothing(key);
      expect(await at.countStaged()).toBe(staged);
    });
  }

  test('a source that is destroyed before its end fails the upload', async () => {
    const key = at.newKey('cut');
    const source = stuckSource(MIB);
    const putting = at.store.put(key, source, PDF);
    setTimeout(() => source.destroy(), 50);
    await expect(putting).rejects.toThrow('Premature close');
    await at.expectNothing(key);
  });

  test('a source that failed, or a signal that was aborted, before the upload fails it', async () => {
    const key = at.newKey('early');
    const failed = new Readable({ read() {} });
    failed.on('error', () => undefined).destroy(new Error('too late'));
    await until(() => failed.closed);
    await expect(at.store.put(key, failed, PDF)).rejects.toThrow('too late');
    const signal = AbortSignal.abort(new Error('never mind'));
    const source = byteSource(10);
    await expect(at.store.put(key, source, { ...PDF, signal })).rejects.toThrow('never mind');
    expect(source.destroyed).toBe(true);
    await expect(at.store.remove(key, { signal })).rejects.toThrow('never mind');
    await at.expectNothing(key);
  });

  testIf(at.can.listsUploads)('removeStaleUploads removes old uploads, but not those in progress', async () => {
    const key = at.newKey('stale');
    const abort = new AbortController();
    const source = stuckSource(20 * MIB);
    const putting = at.store.put(key, source, { ...PDF, signal: abort.signal });
    putting.catch(() => undefined);
    await until(async () => (await at.countStaged()) === 1);
    await at.store.removeStaleUploads(new Date(Date.now() - 3_600_000));
    expect(await at.countStaged()).toBe(1);
    await at.store.removeStaleUploads(new Date(Date.now() + 3_600_000));
    expect(await at.countStaged()).toBe(0);
    abort.abort();
    await expect(putting).rejects.toThrow();
    await at.expectNothing(key);
  });
}
