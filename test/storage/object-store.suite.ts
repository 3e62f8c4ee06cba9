import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DownloadOptions, ObjectStore } from '../../src/storage/object-store.ts';
import { StorageUnavailableError } from '../../src/storage/object-store.ts';
import { testPartialObjects } from './partial.suite.ts';
import { byteSource, hashOf, MIB, readAll } from './sources.ts';
import type { Capabilities, UploadTools } from './upload.suite.ts';
import { testIf, testUploads } from './upload.suite.ts';

/** A store, and what tests need to know about its server or disk. */
export type StoreUnderTest = {
  store: ObjectStore;
  /** The origin of download URLs that we serve ourselves. */
  origin: string;
  /** Stores that cannot work, by the reason. */
  broken: Record<string, ObjectStore>;
  /** How many uploads are staged, which means neither finished nor cleaned up. */
  countStaged(): Promise<number>;
  /** Resolves when a URL with this lifetime has expired. */
  expire(seconds: number): Promise<void>;
  close(): Promise<void>;
};

const PDF = { contentType: 'application/pdf' };

/** Tests the guarantees of ObjectStore with one implementation and server. */
export function describeObjectStore(name: string, can: Capabilities, open: () => Promise<StoreUnderTest>): void {
  describe(name, () => {
    let underTest: StoreUnderTest;
    let store: ObjectStore;
    // A prefix per run, so that leftovers of an earlier run on a real server do not matter.
    const run = `suite-${randomUUID()}`;
    const newKey = (label: string) => `${run}/${label}/${randomUUID()}.pdf`;

    beforeAll(async () => {
      underTest = await open();
      store = underTest.store;
    });
    afterAll(async () => {
      for await (const { key } of store.list(run)) await store.remove(key);
      await underTest.close();
    });

    const sign = (key: string, options: Partial<DownloadOptions> = {}) =>
      store.signDownload(key, {
        filename: 'report.pdf',
        contentType: 'application/pdf',
        expiresInSeconds: 60,
        origin: underTest.origin,
        ...options,
      });
    const putText = async (label: string, text: string) => {
      const key = newKey(label);
      await store.put(key, Readable.from([Buffer.from(text)]), PDF);
      return key;
    };
    const get = async (key: string, headers: Record<string, string> = {}, method = 'GET') =>
      fetch(await sign(key), { method, headers });
    const countStaged = async () => (can.listsUploads ? underTest.countStaged() : 0);
    const expectNothing = async (key: string) => {
      expect(await readAll(store.list(key))).toEqual([]);
      expect((await get(key)).status).toBe(404);
    };

    const tools: UploadTools = {
      can,
      get store() {
        return store;
      },
      newKey,
      get,
      countStaged,
      expectNothing,
    };

    test('a stored object is served by its signed URL', async () => {
      const key = await putText('round-trip', '%PDF-1.7 hello');
      const answer = await get(key);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe('%PDF-1.7 hello');
      expect(answer.headers.get('content-length')).toBe('14');
      expect(answer.headers.get('accept-ranges')).toBe('bytes');
    });

    test('an object may be empty', async () => {
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

    test('the answer is an attachment with the signed name and type, not the stored type', async () => {
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

    test('a single range is answered with 206 and Content-Range', async () => {
      const key = await putText('range', '0123456789');
      for (const [range, text, contentRange] of [
        ['bytes=2-4', '234', 'bytes 2-4/10'],
        ['bytes=7-', '789', 'bytes 7-9/10'],
        ['bytes=8-99', '89', 'bytes 8-9/10'],
      ] as const) {
        const answer = await get(key, { range });
        expect([answer.status, await answer.text()]).toEqual([206, text]);
        expect(answer.headers.get('content-range')).toBe(contentRange);
      }
    });

    testIf(can.answersHead)('HEAD returns the headers of GET and no body', async () => {
      const answer = await get(await putText('head', '0123456789'), {}, 'HEAD');
      expect([answer.status, await answer.text()]).toEqual([200, '']);
      expect(answer.headers.get('content-length')).toBe('10');
      expect(answer.headers.get('content-type')).toBe('application/pdf');
      expect(answer.headers.get('content-disposition')).toBe('attachment; filename="report.pdf"');
    });

    testIf(can.servesSuffixRanges)('a suffix range returns the last bytes', async () => {
      const answer = await get(await putText('suffix', '0123456789'), { range: 'bytes=-3' });
      expect([answer.status, await answer.text()]).toEqual([206, '789']);
    });

    test('a range beyond the end is 416', async () => {
      const key = await putText('416', '0123456789');
      expect((await get(key, { range: 'bytes=10-' })).status).toBe(416);
    });

    test('an expired URL is 403', async () => {
      const key = await putText('expiry', 'x');
      const url = await sign(key, { expiresInSeconds: 1 });
      expect((await fetch(url)).status).toBe(200);
      await underTest.expire(1);
      expect((await fetch(url)).status).toBe(403);
    });

    testIf(can.verifiesSignatures)('an altered URL is 403', async () => {
      const key = await putText('tamper', 'mine');
      const other = await putText('tamper', 'not mine');
      const url = await sign(key, { filename: 'report.pdf' });
      for (const altered of [
        url.replace(key, other),
        url.replace('report.pdf', 'report.exe'),
        url.replace(encodeURIComponent('application/pdf'), encodeURIComponent('text/html')),
        url.replace('X-Amz-Expires=60', 'X-Amz-Expires=600').replace(/([?&]expires=)\d+/, '$19999999999'),
        url.replace(/(signature=..)./i, (found, start: string) => `${start}${found.endsWith('0') ? '1' : '0'}`),
      ]) {
        expect(altered).not.toBe(url);
        expect((await fetch(altered)).status, altered).toBe(403);
      }
    });

    test('removing deletes the object, and can be repeated', async () => {
      const key = await putText('remove', 'x');
      await store.remove(key);
      await store.remove(key);
      await expectNothing(key);
    });

    test('a copy has the same data and survives the deletion of the original', async () => {
      for (const size of [0, 100_000, 9 * MIB]) {
        const from = newKey('copy');
        const to = newKey('copied');
        await store.put(from, byteSource(size), PDF);
        await store.copy(from, to);
        await store.remove(from);
        const body = (await get(to)).body;
        expect(await hashOf(body ?? Readable.from([]))).toBe(await hashOf(byteSource(size)));
        for await (const { key, modifiedAt } of store.list(to)) {
          expect(key).toBe(to);
          expect(Math.abs(modifiedAt.getTime() - Date.now())).toBeLessThan(60_000);
        }
      }
    });

    test('copying an object that does not exist fails and leaves nothing', async () => {
      const to = newKey('copied');
      const staged = await countStaged();
      await expect(store.copy(newKey('copy'), to)).rejects.toThrow(StorageUnavailableError);
      await expectNothing(to);
      expect(await countStaged()).toBe(staged);
    });

    test('a listing has the size and time of the objects below its prefix only', async () => {
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

    testIf(can.listsInByteOrder)('a listing is in the byte order of whole keys', async () => {
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

    testUploads(tools);
    testPartialObjects(tools);

    test('a key that could leave its directory is rejected', async () => {
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
        await expect(store.copy(key, 'a'), key).rejects.toThrow('Not an object key');
        await expect(store.copy('a', key), key).rejects.toThrow('Not an object key');
        await expect(sign(key), key).rejects.toThrow('Not an object key');
      }
      expect(await readAll(store.list('../'))).toEqual([]);
      expect(await readAll(store.list('a/../../'))).toEqual([]);
    });

    test('a working store is ready, and a broken one fails with StorageUnavailableError', async () => {
      await store.checkReady();
      const key = newKey('broken');
      for (const [reason, broken] of Object.entries(underTest.broken)) {
        const attempts = {
          put: broken.put(key, byteSource(1000), PDF),
          putLarge: broken.put(key, byteSource(20 * MIB), PDF),
          copy: broken.copy(key, newKey('broken')),
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
