import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { StorageUnavailableError } from '../../src/storage/object-store.ts';
import { createS3Store } from '../../src/storage/s3-store.ts';
import type { Call, FakeS3, Faults } from './fake-s3.ts';
import { openFakeS3, refuse, xml } from './fake-s3.ts';
import { byteSource, MIB, readAll, stuckSource, until } from './sources.ts';

const PDF = { contentType: 'application/pdf' };
const DEAD_ENDPOINT = 'http://127.0.0.1:9'; // The discard port, on which nothing listens.

describe('S3 store on a server with faults', () => {
  const opened: FakeS3[] = [];
  afterEach(async () => {
    for (const fake of opened.splice(0)) await fake.close();
  });
  const open = async (faults: Faults) => {
    const fake = await openFakeS3(faults);
    opened.push(fake);
    return fake;
  };
  const only = (operation: Call['operation'], act: (call: Call) => boolean) => (call: Call) =>
    call.operation === operation && act(call);

  test('a small object is one request, a large one is parts', async () => {
    const fake = await open({});
    await fake.store.put('a', byteSource(8 * MIB - 1), PDF);
    expect(fake.calls).toEqual(['put']);
    await fake.store.put('b', byteSource(20 * MIB), PDF);
    expect(fake.calls).toEqual(['put', 'create', 'part', 'part', 'part', 'complete']);
    expect(fake.received).toBeGreaterThanOrEqual(28 * MIB - 1);
  });

  test('a request that fails once is retried', async () => {
    let failures = 0;
    const fake = await open({
      answer: ({ response }) => ++failures === 1 && refuse(response, 503, 'SlowDown'),
    });
    await fake.store.put('a', byteSource(100), PDF);
    expect(fake.calls).toEqual(['put', 'put']);
  });

  test('a failing part aborts the upload and destroys the source, even one that stalls', async () => {
    const fake = await open({
      answer: only('part', ({ part, response }) => part === 3 && refuse(response, 403, 'AccessDenied')),
    });
    const source = stuckSource(24 * MIB);
    await expect(fake.store.put('a', source, PDF)).rejects.toThrow(StorageUnavailableError);
    expect(fake.calls).toEqual(['create', 'part', 'part', 'part', 'abort']);
    expect(source.destroyed).toBe(true);
  });

  for (const [what, body] of [
    ['an error', xml('Error', '<Code>InternalError</Code>')],
    ['an error and white space', `\n${xml('Error', '<Code>InternalError</Code>')}\n`],
    ['nothing', ''],
    ['something else', '<html>a proxy page</html>'],
  ]) {
    test(`a completion that is answered with 200 and ${what} fails, and the object is removed`, async () => {
      const fake = await open({ answer: only('complete', ({ response }) => response.end(body) !== undefined) });
      await expect(fake.store.put('a', byteSource(9 * MIB), PDF)).rejects.toThrow(StorageUnavailableError);
      expect(fake.calls.slice(0, 4)).toEqual(['create', 'part', 'part', 'complete']);
      expect(fake.calls.slice(-2)).toEqual(['abort', 'delete']);
    });
  }

  test('a copy is one request that names its source and has no body', async () => {
    let source: unknown;
    const fake = await open({
      answer: only('copy', ({ response }) => {
        source = response.req.headers['x-amz-copy-source'];
        return false;
      }),
    });
    await fake.store.copy('a/b', 'c');
    expect([fake.calls, fake.received, source]).toEqual([['copy'], 0, 'bucket/installation/a/b']);
  });

  for (const [what, answer] of [
    ['refuses', (call: Call) => refuse(call.response, 403, 'AccessDenied')],
    ['answers 200 with an error', ({ response }: Call) => !!response.end(xml('Error', '<Code>InternalError</Code>'))],
    ['answers 200 with nothing', ({ response }: Call) => !!response.end('')],
    ['never answers', () => true],
  ] as const) {
    test(`a copy that the server ${what} fails, and a possible copy is removed`, async () => {
      const fake = await open({ idleTimeoutMs: 200, answer: only('copy', answer) });
      await expect(fake.store.copy('a', 'b')).rejects.toThrow(StorageUnavailableError);
      expect(fake.calls.at(-1)).toBe('delete');
    });
  }

  test('an upload with one request that fails removes what it may have stored', async () => {
    const fake = await open({ answer: only('put', ({ response }) => refuse(response, 500, 'InternalError')) });
    await expect(fake.store.put('a', byteSource(10), PDF)).rejects.toThrow(StorageUnavailableError);
    expect(fake.calls).toEqual(['put', 'put', 'put', 'delete']);
  });

  for (const silent of ['put', 'create', 'part'] as const) {
    test(`a server that never answers ${silent} causes a timeout`, async () => {
      const fake = await open({ idleTimeoutMs: 200, answer: only(silent, () => true) });
      const size = silent === 'put' ? 10 : 9 * MIB;
      const started = performance.now();
      await expect(fake.store.put('a', byteSource(size), PDF)).rejects.toThrow(StorageUnavailableError);
      expect(performance.now() - started).toBeLessThan(20_000);
      expect(fake.calls.filter((operation) => operation === silent).length).toBeGreaterThanOrEqual(3);
    });
  }

  test('a server that never answers fails an upload after three attempts and a copy after one', async () => {
    const fake = await open({ idleTimeoutMs: 500, answer: () => true });
    const outcomes = await Promise.allSettled([fake.store.put('a', byteSource(10), PDF), fake.store.copy('a', 'b')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    // A copy has one attempt, because an attempt may take long.
    expect(fake.calls.filter((operation) => operation === 'put')).toHaveLength(3);
    expect(fake.calls.filter((operation) => operation === 'copy')).toHaveLength(1);
  }, 60_000);

  test('a refused connection fails at once', async () => {
    const options = {
      bucket: 'b',
      region: 'us-east-1',
      clock: systemClock,
      accessKeyId: 'k',
      secretAccessKey: 's',
      endpoint: DEAD_ENDPOINT,
    };
    const started = performance.now();
    await expect(createS3Store(options).put('a', byteSource(10), PDF)).rejects.toThrow(StorageUnavailableError);
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  test('an abort cancels the pending parts', async () => {
    const fake = await open({ idleTimeoutMs: 20_000, answer: only('part', () => true) });
    const abort = new AbortController();
    const putting = fake.store.put('a', byteSource(100 * MIB), { ...PDF, signal: abort.signal });
    putting.catch(() => undefined);
    await until(() => fake.received >= 16 * MIB);
    const started = performance.now();
    abort.abort(new Error('hung up'));
    await expect(putting).rejects.toThrow('hung up');
    // Without the abort, the parts would fail after the idle timeout.
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(fake.calls).toEqual(['create', 'part', 'part', 'abort']);
  });

  test('an abort during the first request removes the upload that it creates', async () => {
    const abort = new AbortController();
    const fake = await open({
      answer: only('create', () => {
        abort.abort(new Error('hung up'));
        return false;
      }),
    });
    const putting = fake.store.put('a', byteSource(9 * MIB), { ...PDF, signal: abort.signal });
    await expect(putting).rejects.toThrow('hung up');
    expect(fake.calls).toEqual(['create', 'abort']);
  });

  test('an abort during the last request waits for its outcome', async () => {
    const abort = new AbortController();
    const fake = await open({
      answer: only('complete', () => {
        abort.abort(new Error('too late'));
        return false;
      }),
    });
    await fake.store.put('a', byteSource(9 * MIB), { ...PDF, signal: abort.signal });
    expect(fake.calls).toEqual(['create', 'part', 'part', 'complete']);
  });

  test('an upload buffers at most two parts while the store is slow', async () => {
    const fake = await open({ bytesPerSecond: 30 * MIB, idleTimeoutMs: 5000 });
    let max = 0;
    const onBlock = (pulled: number) => {
      max = Math.max(max, pulled - fake.received);
    };
    await fake.store.put('a', byteSource(64 * MIB, { onBlock }), PDF);
    expect(max).toBeGreaterThan(8 * MIB);
    expect(max).toBeLessThanOrEqual(16.5 * MIB);
  });

  for (const status of [405, 501]) {
    test(`removeStaleUploads accepts a server that answers ${status} to ListMultipartUploads`, async () => {
      const fake = await open({
        answer: only('get', ({ response }) => refuse(response, status, 'NotImplemented')),
      });
      await fake.store.removeStaleUploads(new Date());
    });
  }

  test('removeStaleUploads reads all pages and aborts old uploads', async () => {
    const upload = (id: number, initiated: string) =>
      `<Upload><Key>installation/${id}</Key><UploadId>u${id}</UploadId><Initiated>${initiated}</Initiated></Upload>`;
    let page = 0;
    const fake = await open({
      answer: only('get', ({ response }) => {
        page += 1;
        const next = '<NextKeyMarker>k</NextKeyMarker><NextUploadIdMarker>u</NextUploadIdMarker>';
        const old = upload(page, '2026-01-01T00:00:00.000Z');
        const recent = upload(page + 10, '2026-03-01T00:00:00.000Z');
        const more = page < 3 ? `<IsTruncated>true</IsTruncated>${next}` : '<IsTruncated>false</IsTruncated>';
        response.end(xml('ListMultipartUploadsResult', `${more}${old}${recent}`));
        return true;
      }),
    });
    await fake.store.removeStaleUploads(new Date('2026-02-01'));
    expect(fake.calls.filter((operation) => operation === 'abort')).toHaveLength(3);
    expect(page).toBe(3);
  });

  test('downloads are signed for the public endpoint, without a request to the store', async () => {
    const store = createS3Store({
      bucket: 'bucket',
      region: 'eu-central-1',
      clock: { now: () => new Date('2026-03-04T05:06:07Z') },
      endpoint: DEAD_ENDPOINT,
      publicEndpoint: 'https://files.example.com',
      accessKeyId: 'key',
      secretAccessKey: 'secret',
      forcePathStyle: true,
      prefix: '/one/two/',
    });
    const url = new URL(
      await store.signDownload('a/b', { filename: 'x.pdf', ...PDF, expiresInSeconds: 900, origin: 'https://api.test' }),
    );
    expect(`${url.origin}${url.pathname}`).toBe('https://files.example.com/bucket/one/two/a/b');
    expect(url.searchParams.get('X-Amz-Expires')).toBe('900');
    expect(url.searchParams.get('X-Amz-Date')).toBe('20260304T050607Z');
    expect(url.searchParams.get('response-content-disposition')).toBe('attachment; filename="x.pdf"');
    expect(url.href).not.toContain('secret');
  });

  test('an access key without its secret is rejected', () => {
    expect(() => createS3Store({ bucket: 'b', region: 'r', clock: systemClock, accessKeyId: 'key' })).toThrow(
      TypeError,
    );
  });

  test('a listing that is out of order is an error', async () => {
    const fake = await open({
      answer: only('get', ({ response }) => {
        const contents = ['b', 'a'].map((key) => `<Contents><Key>installation/${key}</Key></Contents>`).join('');
        response.end(xml('ListBucketResult', contents));
        return true;
      }),
    });
    await expect(readAll(fake.store.list(''))).rejects.toThrow(StorageUnavailableError);
  });

  test('installations in one bucket do not see each other', async () => {
    const seen: string[] = [];
    const fake = await open({
      answer: only('get', ({ response }) => {
        seen.push(response.req.url ?? '');
        const keys = ['installation/', 'installation/Not Ours', 'installation/a', 'installation/b'];
        const contents = keys.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`).join('');
        response.end(xml('ListBucketResult', contents));
        return true;
      }),
    });
    expect(await readAll(fake.store.list(''))).toEqual(['a', 'b']);
    expect(seen[0]).toContain('prefix=installation%2F');
  });
});
