/** How many requests to S3 a duration takes. The file is sparse, and the bytes go over HTTP. */
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import S3rver from 's3rver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { readDuration } from '../../src/media/read-duration.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { createS3Store } from '../../src/storage/s3-store.ts';
import { box, makeMp4, makeMvhd, uint32 } from '../support/media.ts';
import { quietLog } from '../support/quiet-log.ts';
import { makeVideo, noFfmpeg } from './ffmpeg.ts';

const SIZE = 2 * 1024 ** 3;
const type = 'video/mp4' as const;

let directory: string;
let server: S3rver;
let store: ObjectStore;
const requests: string[] = [];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lynxroom-duration-'));
  const configureBuckets = [{ name: 'test-bucket', configs: [] }];
  server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets });
  const { port } = await server.run();
  server.httpServer.on('request', ({ method, headers }) => requests.push(`${method} ${headers.range}`));
  const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
  const endpoint = `http://127.0.0.1:${port}`;
  store = createS3Store({ bucket: 'test-bucket', region: 'us-east-1', clock: systemClock, endpoint, ...credentials });
});
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

/** Stores a file of 2 GiB that begins with `head` and ends with `tail`. */
async function storeFile(fileKey: string, head: Buffer, tail: Buffer): Promise<void> {
  await store.put(fileKey, Readable.from([head]), { contentType: type });
  const paths = await readdir(directory, { recursive: true });
  const path = paths.find((found) => found.includes(fileKey) && found.endsWith('_S3rver_object')) ?? '';
  await using handle = await open(join(directory, path), 'r+');
  await handle.truncate(SIZE);
  await handle.write(tail, 0, tail.length, SIZE - tail.length);
}

/** Returns the duration, and the ranges that were requested. */
async function measure(fileKey: string): Promise<{ duration: number | null; ranges: string[] }> {
  const before = requests.length;
  const services = { store, log: quietLog };
  const { duration } = await readDuration(services, { workspaceId: 1, fileKey, size: SIZE, type }, 20_000);
  return { duration, ranges: requests.slice(before) };
}

/** A box that fills the gap between the parts of a file of 2 GiB. */
function claimGap(name: string, ...parts: Buffer[]): Buffer {
  return Buffer.concat([uint32(SIZE - parts.reduce((sum, part) => sum + part.length, 0)), Buffer.from(name, 'latin1')]);
}

function expectFewRanges(ranges: string[]): void {
  expect(ranges.length).toBeGreaterThan(0);
  expect(ranges.length).toBeLessThanOrEqual(20);
  for (const range of ranges) expect(range).toMatch(/^GET bytes=\d+-\d+$/);
}

test('the duration of 2 GiB with the index at the end takes at most 20 range requests', async () => {
  const ftyp = makeMp4({ durationSeconds: 0, moov: 'front' }).subarray(0, 28);
  const moov = box('moov', makeMvhd({ version: 0, timescale: 1000, duration: 5_400_000n }));
  await storeFile('v1/plain', Buffer.concat([ftyp, claimGap('mdat', ftyp, moov)]), moov);
  const { duration, ranges } = await measure('v1/plain');
  expect(duration).toBe(5_400);
  expectFewRanges(ranges);
});

const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '10', '-c:a', 'aac'];

test.skipIf(noFfmpeg !== null).each([
  { name: 'with the index at the end', options: [], split: 'moov' },
  { name: 'in fragments', options: ['-movflags', 'frag_keyframe+empty_moov'], split: 'moof' },
])('the duration of a video of 2 GiB $name takes at most 20 range requests', async ({ name, options, split }) => {
  const video = await makeVideo('video.mp4', 30, [...h264, ...options]);
  const at = video.indexOf(split) - 4;
  const [head, tail] = [video.subarray(0, at), video.subarray(at)];
  const key = `v1/${name.replaceAll(' ', '-')}`;
  await storeFile(key, Buffer.concat([head, claimGap('free', head, tail)]), tail);
  const { duration, ranges } = await measure(key);
  expect(duration).toBe(30);
  expectFewRanges(ranges);
});
