import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DiskFiles, OpenedFile } from '../../src/storage/disk-store.ts';
import { createDiskStore } from '../../src/storage/disk-store.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { listenWithFiles } from './serve-app.ts';
import { byteSource, MIB, until } from './sources.ts';

const LARGE = 120 * MIB;
const PDF = { contentType: 'application/pdf' };

describe('signed files over HTTP', () => {
  let root: string;
  let store: ObjectStore & DiskFiles;
  let app: FastifyInstance;
  let origin: string;
  let opened: OpenedFile[];
  let bytesRead: () => number;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'serve-files-'));
    const clock = { now: () => new Date() };
    store = await createDiskStore({ root, signingSecret: 'a secret of the tests', clock });
    await store.put('ten', Readable.from([Buffer.from('0123456789')]), PDF);
    await store.put('empty', Readable.from([]), PDF);
    await store.put('large', byteSource(LARGE), PDF);
    ({ app, origin } = await listenWithFiles({ openSigned }));
  });
  afterAll(async () => {
    await app.close();
    await rm(root, { recursive: true });
  });
  beforeEach(() => {
    opened = [];
    bytesRead = () => 0;
  });

  /** The files of the store. Records which handles are open, and how much of a file was read. */
  async function openSigned(key: string, query: string): Promise<OpenedFile> {
    const file = await store.openSigned(key, query);
    opened.push(file);
    const read = file.handle.read.bind(file.handle);
    let total = 0;
    bytesRead = () => total;
    file.handle.read = async (...parameters: Parameters<typeof read>) => {
      const result = await read(...parameters);
      total += result.bytesRead;
      return result;
    };
    return file;
  }

  const allClosed = () => until(() => opened.every(({ handle }) => handle.fd === -1));
  const sign = (key: string) =>
    store.signDownload(key, { filename: 'a.pdf', contentType: 'application/pdf', expiresInSeconds: 60, origin });
  const get = async (key: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(await sign(key), { headers, method });

  test.each([
    ['bytes=0-0', 206, '0', 'bytes 0-0/10'],
    ['bytes=9-', 206, '9', 'bytes 9-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
    ['BYTES=2-3', 206, '23', 'bytes 2-3/10'],
    ['bytes=5-99999999999999999999999', 206, '56789', 'bytes 5-9/10'],
    ['bytes=10-', 416, undefined, 'bytes */10'],
    ['bytes=99999999999999999999999-', 416, undefined, 'bytes */10'],
    ['bytes=-0', 416, undefined, 'bytes */10'],
    ['bytes=0-1,3-4', 200, '0123456789', null],
    ['bytes=4-2', 200, '0123456789', null],
    ['bytes=-', 200, '0123456789', null],
    ['bytes=a-b', 200, '0123456789', null],
    ['bytes=1.5-2', 200, '0123456789', null],
    ['items=0-1', 200, '0123456789', null],
  ])('Range: %s answers %i', async (range, status, body, contentRange) => {
    const answer = await get('ten', { range });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([status, contentRange]);
    const text = await answer.text();
    if (body !== undefined) expect([text, answer.headers.get('content-length')]).toEqual([body, String(body.length)]);
    else expect(answer.headers.get('content-disposition')).toBeNull();
    await allClosed();
  });

  test('If-Range returns the range only if the ETag matches', async () => {
    const first = await get('ten');
    const [etag, modified] = [first.headers.get('etag') ?? '', first.headers.get('last-modified') ?? ''];
    for (const [ifRange, status] of [
      [etag, 206],
      [modified, 206],
      ['"another"', 200],
      [`W/${etag}`, 200],
      ['Thu, 01 Jan 1970 00:00:00 GMT', 200],
    ] as const) {
      const answer = await get('ten', { range: 'bytes=0-1', 'if-range': ifRange });
      expect([answer.status, (await answer.text()).length], ifRange).toEqual([status, status === 206 ? 2 : 10]);
    }
  });

  test('HEAD does not read the file, and ignores ranges', async () => {
    const answer = await get('large', { range: 'bytes=0-1' }, 'HEAD');
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, String(LARGE)]);
    expect(bytesRead()).toBe(0);
    await allClosed();
  });

  test('an empty file is served, and its ranges are not satisfiable', async () => {
    const answer = await get('empty');
    expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '0', '']);
    expect((await get('empty', { range: 'bytes=0-' })).status).toBe(416);
    await allClosed();
  });

  test('only GET and HEAD are answered, and an unsigned URL is 403', async () => {
    const url = await sign('ten');
    expect((await fetch(url, { method: 'POST' })).status).toBe(404);
    for (const path of [
      '/files/',
      '/files/ten',
      '/files/..%2ften',
      '/files/..%2f..%2fetc/passwd',
      '/files//ten',
      '/files/ten%00',
    ]) {
      expect((await fetch(origin + path)).status, path).toBe(403);
      expect((await fetch(url.replace('/files/ten', path))).status, path).toBe(path === '/files/ten' ? 200 : 403);
    }
  });

  test('a signed URL of a deleted object is 404', async () => {
    const url = await sign('never-stored');
    const answer = await fetch(url);
    expect([answer.status, await answer.json()]).toEqual([404, { error: 'File not found' }]);
  });

  test('the file is read no faster than the client reads, and is closed if the client disconnects', async () => {
    const url = await sign('large');
    const request = httpGet(url);
    const [answer] = await once(request, 'response');
    answer.on('error', () => undefined);
    let before = -1;
    await until(async () => {
      const now = bytesRead();
      const isStill = now === before && now > 0;
      before = now;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return isStill;
    });
    // The kernel buffers of two loopback sockets, and one read.
    expect(bytesRead()).toBeLessThan(16 * MIB);
    expect(opened[0]?.handle.fd).not.toBe(-1);
    request.destroy();
    await allClosed();
  });

  test('a client that disconnects before the answer leaves no file open', async () => {
    for (let delay = 0; delay < 20; delay += 1) {
      const request = httpGet(await sign('large'));
      request.on('error', () => undefined);
      await new Promise((resolve) => setTimeout(resolve, delay / 4));
      request.destroy();
    }
    await get('ten');
    await until(() => opened.length > 0);
    await allClosed();
  });
});
