/** How many downloads may be open at once, and how many descriptors they need. */
import { once } from 'node:events';
import { readdir, readlink } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import type { DownloadLimits } from '../../src/http/download-limits.ts';
import { createDiskStore } from '../../src/storage/disk-store.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { listenWithFiles } from './serve-app.ts';
import { byteSource, MIB, until } from './sources.ts';

const PDF = { contentType: 'application/pdf' };

let readers: Socket[];
let close: () => Promise<void>;
beforeEach(() => {
  readers = [];
});
afterEach(async () => {
  for (const reader of readers) reader.destroy();
  await close();
});

async function startServer(limits: Partial<DownloadLimits>) {
  const root = await makeTempDir();
  const store = await createDiskStore({ root, signingSecret: 'a secret of the tests', clock: systemClock });
  for (const key of ['a', 'b', 'workspaces/1/library/a']) await store.put(key, byteSource(32 * MIB), PDF);
  const { app, origin } = await listenWithFiles(store, limits);
  close = () => app.close();
  const sign = async (key: string): Promise<string> =>
    (await store.signDownload(key, { ...PDF, filename: `${key}.pdf`, expiresInSeconds: 60, origin })).slice(
      origin.length,
    );
  return { root, store, origin, sign };
}

/** Opens a download that reads nothing after the first bytes. Returns the status and headers. */
async function openStalled(origin: string, path: string): Promise<string> {
  const reader = connect(Number(new URL(origin).port), '127.0.0.1');
  reader.on('error', () => {});
  readers.push(reader);
  reader.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
  const [head] = await once(reader, 'data');
  reader.pause();
  return String(head).split('\r\n\r\n', 1)[0] ?? '';
}

test('a URL has a maximum of open downloads, and one that ends makes place', async () => {
  const { origin, sign } = await startServer({ perUrl: 2 });
  const path = await sign('a');
  expect(await openStalled(origin, path)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await openStalled(origin, path)).toMatch(/^HTTP\/1\.1 200 /);
  const refused = await fetch(origin + path);
  expect([refused.status, await refused.json()]).toEqual([429, { error: 'Too many downloads with this URL at once' }]);
  expect((await fetch(origin + (await sign('b')), { method: 'HEAD' })).status).toBe(200);
  readers.pop()?.destroy();
  await until(async () => (await fetch(origin + path, { headers: { range: 'bytes=0-9' } })).status === 206);
});

test('a network has a maximum of open downloads, with whatever URLs', async () => {
  const { origin, sign } = await startServer({ perNetwork: 2 });
  await openStalled(origin, await sign('a'));
  await openStalled(origin, await sign('b'));
  const refused = await fetch(origin + (await sign('b')));
  const message = 'Too many downloads from this network at once';
  expect([refused.status, await refused.json()]).toEqual([429, { error: message }]);
});

test('the process has a maximum of open downloads', async () => {
  const { origin, sign } = await startServer({ total: 1 });
  await openStalled(origin, await sign('a'));
  const refused = await fetch(origin + (await sign('b')));
  expect([refused.status, await refused.json()]).toEqual([503, { error: 'Too many downloads at once' }]);
});

test('the files of one workspace have half of all open downloads', async () => {
  const { origin, sign } = await startServer({ total: 4 });
  const path = await sign('workspaces/1/library/a');
  for (let open = 0; open < 2; open += 1) expect(await openStalled(origin, path)).toMatch(/^HTTP\/1\.1 200 /);
  const refused = await fetch(origin + path);
  expect([refused.status, await refused.json()]).toEqual([503, { error: 'Too many downloads at once' }]);
  expect(await openStalled(origin, await sign('b'))).toMatch(/^HTTP\/1\.1 200 /);
});

test('refused and failed downloads take no place', async () => {
  const { origin, sign } = await startServer({ perUrl: 1, perNetwork: 1, total: 1 });
  const path = await sign('a');
  for (let round = 0; round < 3; round += 1) {
    expect((await fetch(`${origin}/files/a`)).status).toBe(403);
    expect((await fetch(origin + (await sign('never-stored')))).status).toBe(404);
    expect((await fetch(origin + path, { headers: { range: 'bytes=99999999999-' } })).status).toBe(416);
    expect((await fetch(origin + path, { headers: { range: 'bytes=0-9' } })).status).toBe(206);
    await until(async () => (await fetch(origin + path, { method: 'HEAD' })).status === 200);
  }
});

test('any number of readers of one file need one descriptor of it', async () => {
  const { root, store, origin, sign } = await startServer({});
  const path = await sign('a');
  for (let count = 0; count < 10; count += 1) await openStalled(origin, path);
  expect(await countDescriptors(root)).toBe(1);
  // A deleted file is gone for new readers, while the others still read it.
  await store.remove('a');
  expect((await fetch(origin + path)).status).toBe(404);
  for (const reader of readers) reader.destroy();
  await until(async () => (await countDescriptors(root)) === 0);
});

/** The number of descriptors of this process for files below `root`. Linux only. */
async function countDescriptors(root: string): Promise<number> {
  const names = await readdir('/proc/self/fd');
  const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return targets.filter((target) => target.startsWith(root)).length;
}
