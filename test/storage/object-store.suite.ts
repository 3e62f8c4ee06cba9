import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DownloadOptions, ObjectStore } from '../../src/storage/object-store.ts';
import { StorageUnavailableError } from '../../src/storage/object-store.ts';
import { byteSource, hashOf, MIB, readAll, stuckSource, until } from './sources.ts';

/** One store, and what a test must know about the place behind it. */
export type StoreUnderTest = {
  store: ObjectStore;
  /** Origin that download URLs of our own are made for. */
  origin: string;
  /** Stores that cannot work, each named for the reason. */
  broken: Record<string, ObjectStore>;
  /** How many uploads are staged: begun, and neither finished nor cleaned up. */
  countStaged(): Promise<number>;
  /** Returns when a URL of that lifetime has expired. */
  expire(seconds: number): Promise<void>;
  close(): Promise<void>;
};

/** What the server behind a store does. A test that needs a `false` one is reported as skipped. */
export type Capabilities = {
  verifiesSignatures: boolean;
  servesSuffixRanges: boolean;
  listsUploads: boolean;
  listsInByteOrder: boolean;
  sendsNosniff: boolean;
};

const PDF = { contentType: 'application/pdf' };

/** The promises of the ObjectStore port, tried against one implementation and server. */
export function describeObjectStore(name: string, can: Capabilities, open: () => Promise<StoreUnderTest>): void {
  describe(name, () => {
    let place: StoreUnderTest;
    let store: ObjectStore;
    // A folder a run: what an earlier run left on a real server is not in the way.
    const run = `suite-${randomUUID()}`;
    const newKey = (label: string) => `${run}/${label}/${randomUUID()}.pdf`;

    beforeAll(async () => {
      place = await open();
      store = place.store;
    });
    afterAll(async () => {
      for await (const { key } of store.list(run)) await store.remove(key);
      await place.close();
    });

    const sign = (key: string, options: Partial<DownloadOptions> = {}) =>
      store.signDownload(key, {
        filename: 'report.pdf',
        contentType: 'application/pdf',
        expiresInSeconds: 60,
        origin: place.origin,
        ...options,
      });
    const putText = async (label: string, text: string) => {
      const key = newKey(label);
      await store.put(key, Readable.from([Buffer.from(text)]), PDF);
      return key;
    };
    const get = async (key: string, headers: Record<string, string> = {}, method = 'GET') =>
      fetch(await sign(key), { method, headers });
    const countStaged = async () => (can.listsUploads ? place.countStaged() : 0);
    const expectNothing = async (key: string) => {
      expect(await readAll(store.list(key))).toEqual([]);
      expect((await get(key)).status).toBe(404);
    };

    test('what was put is read back through the signed URL', async () => {
      const key = await putText('round-trip', '%PDF-1.7 hello');
      const answer = await get(key);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe('%PDF-1.7 hello');
      expect(answer.headers.get('content-length')).toBe('14');
      expect(answer.headers.get('accept-ranges')).toBe('bytes');
    });

    test('an empty object is an object', async () => {
      const key = newKey('empty');
      await store.put(key, Readable.from([]), PDF);
      const answer = await get(key);
      expect([answer.status, await answer.text()]).toEqual([200, '']);
    });

    test('a second put replaces the object', async () => {
      const key = await putText('replace', 'first');
      await store.put(key, Readable.from([Buffer.from('second')]), PDF);
      expect(await (await get(key)).text()).toBe('second');
    });

    test('the answer is an attachment with the signed name and type, whatever was stored', async () => {
      const key = await putText('attachment', '<script>alert(1)</script>');
      const answer = await fetch(await sign(key, { filename: 'Übersicht "1".pdf', contentType: 'video/mp4' }));
      expect(answer.headers.get('content-type')).toBe('video/mp4');
      expect(answer.headers.get('content-disposition')).toBe(
        `attachment; filename="_bersicht _1_.pdf"; filename*=UTF-8''%C3%9Cbersicht%20_1_.pdf`,
      );
      if (can.sendsNosniff) {
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
        expect(answer.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
      }
    });

    test('single ranges answer 206 with their place in the whole', async () => {
      const key = await putText('range', '0123456789');
      for (const [range, text, place] of [
        ['bytes=2-4', '234', 'bytes 2-4/10'],
        ['bytes=7-', '789', 'bytes 7-9/10'],
        ['bytes=8-99', '89', 'bytes 8-9/10'],
      ] as const) {
        const answer = await get(key, { range });
        expect([answer.status, await answer.text()]).toEqual([206, text]);
        expect(answer.headers.get('content-range')).toBe(place);
      }
    });

    test.skipIf(!can.servesSuffixRanges)('a suffix range answers the last bytes', async () => {
      const answer = await get(await putText('suffix', '0123456789'), { range: 'bytes=-3' });
      expect([answer.status, await answer.text()]).toEqual([206, '789']);
    });

    test('a range beyond the end answers 416', async () => {
      const key = await putText('416', '0123456789');
      expect((await get(key, { range: 'bytes=10-' })).status).toBe(416);
    });

    test('an expired URL answers 403', async () => {
      const key = await putText('expiry', 'x');
      const url = await sign(key, { expiresInSeconds: 1 });
      expect((await fetch(url)).status).toBe(200);
      await place.expire(1);
      expect((await fetch(url)).status).toBe(403);
    });

    test.skipIf(!can.verifiesSignatures)('an altered URL answers 403', async () => {
      const key = await putText('tamper', 'mine');
      const other = await putText('tamper', 'not mine');
      const url = await sign(key, { filename: 'report.pdf' });
      for (const altered of [
        url.replace(key, other),
        url.replace('report.pdf', 'report.exe'),
        url.replace(encodeURIComponent('application/pdf'), encodeURIComponent('text/html')),
        url.replace(/(expires=)\d+/i, '$19999999999').replace('X-Amz-Expires=60', 'X-Amz-Expires=600'),
        url.replace(/(signature=..)./i, (found, start: string) => `${start}${found.endsWith('0') ? '1' : '0'}`),
      ]) {
        expect(altered).not.toBe(url);
        expect((await fetch(altered)).status, altered).toBe(403);
      }
    });

    test('removing is idempotent, and the object is gone', async () => {
      const key = await putText('remove', 'x');
      await store.remove(key);
      await store.remove(key);
      await expectNothing(key);
    });

    test('a listing shows size and time, below its prefix only', async () => {
      const base = `${run}/plain`;
      const names = ['a/1', 'a/2', 'a/b/1', 'a0', 'b/1'];
      for (const name of names) await store.put(`${base}/${name}`, Readable.from([Buffer.from(name)]), PDF);
      const listed = [];
      for await (const { key, size, modifiedAt } of store.list(`${base}/a`)) {
        listed.push([key, size]);
        expect(Math.abs(modifiedAt.getTime() - Date.now())).toBeLessThan(60_000);
      }
      expect(listed).toEqual(names.slice(0, 4).map((name) => [`${base}/${name}`, name.length]));
      expect(await readAll(store.list(`${base}/a/`))).toHaveLength(3);
      expect(await readAll(store.list(`${base}/none`))).toEqual([]);
    });

    test.skipIf(!can.listsInByteOrder)('a listing is in the byte order of whole keys', async () => {
      const base = `${run}/order`;
      const names = ['a/b/c', 'a-b', 'a.pdf', 'a0', 'ab', 'a/b-c', 'a_/x', 'b', 'a/b.x/y', 'a-/z', 'a/b0', '_'];
      const sorted = names.map((name) => `${base}/${name}`).sort();
      await Promise.all(sorted.map((key) => store.put(key, byteSource(1), PDF)));
      for (const prefix of [
        base,
        `${base}/`,
        `${base}/a/`,
        `${base}/a`,
        `${base}/a/b.`,
        `${base}/a/b`,
        `${base}/a-b`,
      ]) {
        expect(await readAll(store.list(prefix))).toEqual(sorted.filter((key) => key.startsWith(prefix)));
      }
    });

    test('120 MB go through unchanged', { timeout: 60_000 }, async () => {
      const key = newKey('large');
      await store.put(key, byteSource(120 * MIB), PDF);
      const answer = await get(key);
      expect(await hashOf(answer.body ?? Readable.from([]))).toBe(await hashOf(byteSource(120 * MIB)));
    });

    test('concurrent uploads do not disturb one another', async () => {
      const sizes = [0, 1, 100_000, 8 * MIB, 8 * MIB + 1, 3 * MIB, 17 * MIB];
      const keys = sizes.map(() => newKey('concurrent'));
      await Promise.all(keys.map((key, index) => store.put(key, byteSource(sizes[index] ?? 0), PDF)));
      for (const [index, key] of keys.entries()) {
        const body = (await get(key)).body;
        expect(await hashOf(body ?? Readable.from([]))).toBe(await hashOf(byteSource(sizes[index] ?? 0)));
      }
    });

    for (const size of [3 * MIB, 20 * MIB]) {
      test(`an abort after ${size / MIB} MiB leaves nothing`, async () => {
        const key = newKey('abort');
        const abort = new AbortController();
        const source = stuckSource(size);
        const staged = await countStaged();
        const putting = store.put(key, source, { ...PDF, signal: abort.signal });
        setTimeout(() => abort.abort(new Error('hung up')), 100);
        await expect(putting).rejects.toThrow('hung up');
        expect(source.destroyed).toBe(true);
        await expectNothing(key);
        expect(await countStaged()).toBe(staged);
      });

      test(`an error of the source after ${size / MIB} MiB passes unchanged and leaves nothing`, async () => {
        const key = newKey('source-error');
        const failure = new Error('the client went away');
        const source = stuckSource(size);
        const staged = await countStaged();
        const putting = store.put(key, source, PDF);
        setTimeout(() => source.destroy(failure), 100);
        await expect(putting).rejects.toBe(failure);
        await expectNothing(key);
        expect(await countStaged()).toBe(staged);
      });
    }

    test('a source that ends without its end is no upload', async () => {
      const key = newKey('cut');
      const source = stuckSource(MIB);
      const putting = store.put(key, source, PDF);
      setTimeout(() => source.destroy(), 50);
      await expect(putting).rejects.toThrow('Premature close');
      await expectNothing(key);
    });

    test('a source that failed, or a signal that was aborted, before the upload counts too', async () => {
      const key = newKey('early');
      const failed = new Readable({ read() {} });
      failed.on('error', () => undefined).destroy(new Error('too late'));
      await until(() => failed.closed);
      await expect(store.put(key, failed, PDF)).rejects.toThrow('too late');
      const signal = AbortSignal.abort(new Error('never mind'));
      await expect(store.put(key, byteSource(10), { ...PDF, signal })).rejects.toThrow('never mind');
      await expect(store.remove(key, { signal })).rejects.toThrow('never mind');
      await expectNothing(key);
    });

    test.skipIf(!can.listsUploads)('removeStaleUploads takes what is old and spares what is under way', async () => {
      const key = newKey('stale');
      const abort = new AbortController();
      const source = stuckSource(20 * MIB);
      const putting = store.put(key, source, { ...PDF, signal: abort.signal });
      putting.catch(() => undefined);
      await until(async () => (await place.countStaged()) === 1);
      await store.removeStaleUploads(new Date(Date.now() - 3_600_000));
      expect(await place.countStaged()).toBe(1);
      await store.removeStaleUploads(new Date(Date.now() + 3_600_000));
      expect(await place.countStaged()).toBe(0);
      abort.abort();
      await expect(putting).rejects.toThrow();
      await expectNothing(key);
    });

    test('a key that could leave its folder is refused', async () => {
      for (const key of [
        '',
        '/a',
        'a/',
        'a//b',
        '../a',
        'a/../../b',
        'a/./b',
        'A',
        'a\\b',
        'a\0',
        'ä',
        'a b',
        '.',
        '..',
      ]) {
        await expect(store.put(key, byteSource(1), PDF), key).rejects.toThrow('Not an object key');
        await expect(store.remove(key), key).rejects.toThrow('Not an object key');
        await expect(sign(key), key).rejects.toThrow('Not an object key');
      }
      expect(await readAll(store.list('../'))).toEqual([]);
      expect(await readAll(store.list('a/../../'))).toEqual([]);
    });

    test('a store that works is ready, and one that cannot work says StorageUnavailableError', async () => {
      await store.checkReady();
      const key = newKey('broken');
      for (const [reason, broken] of Object.entries(place.broken)) {
        const attempts = {
          put: broken.put(key, byteSource(1000), PDF),
          putLarge: broken.put(key, byteSource(20 * MIB), PDF),
          remove: broken.remove(key),
          list: readAll(broken.list('')),
          checkReady: broken.checkReady(),
        };
        const outcomes = await Promise.allSettled(Object.values(attempts));
        for (const [index, method] of Object.keys(attempts).entries()) {
          const outcome = outcomes[index];
          const error: unknown = outcome?.status === 'rejected' ? outcome.reason : 'no error';
          expect(error, `${reason}: ${method}`).toBeInstanceOf(StorageUnavailableError);
        }
      }
    });
  });
}
