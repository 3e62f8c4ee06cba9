/** Durations of files, and what a file may cost. The bytes are read as from a store, by ranges. */

import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { MAX_QUEUED, MAX_THREADS } from '../../src/media/media-threads.ts';
import { createBoundedFile, ReadLimitReached } from '../../src/media/range-reader.ts';
import { readDuration } from '../../src/media/read-duration.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { box, makeMp4, makeMvhd, uint32, uint64 } from '../support/media.ts';
import { quietLog } from '../support/quiet-log.ts';
import { openRealS3 } from '../support/real-s3.ts';
import { kinds, makeVideo, noFfmpeg } from './ffmpeg.ts';

const s3 = openRealS3('durations');

type Measured = { duration: number | null; isPending: boolean; isSeekable: boolean; requests: number };

/** Reads the duration of a file whose bytes `read` returns. */
async function measure(
  size: number,
  read: (start: number, end: number) => Buffer,
  { head = Buffer.alloc(0), timeoutMs = 20_000 }: { head?: Buffer; timeoutMs?: number } = {},
): Promise<Measured> {
  const store = {
    read: async (_key: string, { start, end = size }: { start: number; end?: number } = { start: 0 }) =>
      Readable.from([read(start, end)]),
  } satisfies Pick<ObjectStore, 'read'>;
  return measureStored(store, { fileKey: 'v1/a', size, head }, timeoutMs);
}

/** Reads the duration of a stored file, and counts the requests. */
async function measureStored(
  { read }: Pick<ObjectStore, 'read'>,
  file: { fileKey: string; size: number; head: Buffer },
  timeoutMs: number,
): Promise<Measured> {
  let requests = 0;
  const store = {
    read: (key: string, range?: { start: number; end?: number }) => {
      requests += 1;
      return read(key, range);
    },
  } satisfies Pick<ObjectStore, 'read'>;
  // `as`: reading a duration uses nothing else of the store.
  const services = { store: store as unknown as ObjectStore, log: quietLog };
  return { ...(await readDuration(services, { workspaceId: 1, ...file, type: 'video/mp4' }, timeoutMs)), requests };
}

async function durationOf(file: Buffer): Promise<number | null> {
  const { duration, requests } = await measure(file.length, (start, end) => file.subarray(start, end));
  expect(requests).toBeLessThanOrEqual(20);
  // The first bytes are usually known.
  const kept = await measure(file.length, (start, end) => file.subarray(start, end), { head: file.subarray(0, 5_000) });
  expect(kept.duration).toBe(duration);
  return duration;
}

function mvhd(duration: number, timescale = 1000) {
  return makeMvhd({ version: 0, timescale, duration: BigInt(duration) });
}
const ftyp = box('ftyp', Buffer.from('isom\0\0\x02\0isom', 'latin1'));

/** A `mvex` box; without a duration it has no `mehd`. */
function mvex(mehdDuration?: number | bigint): Buffer {
  const trex = box('trex', Buffer.alloc(24));
  if (mehdDuration === undefined) return box('mvex', trex);
  const fields =
    typeof mehdDuration === 'bigint' ? [uint32(1 << 24), uint64(mehdDuration)] : [uint32(0), uint32(mehdDuration)];
  return box('mvex', box('mehd', ...fields), trex);
}

/** A box with a 64-bit size; `size` replaces the true one. */
function largeBox(type: string, body: Buffer, size = BigInt(16 + body.length)): Buffer {
  return Buffer.concat([uint32(1), Buffer.from(type, 'latin1'), uint64(size), body]);
}

/** The header of a box that claims `size` bytes. */
function claim(type: string, size: number) {
  return Buffer.concat([uint32(size), Buffer.from(type, 'latin1')]);
}

describe.skipIf(noFfmpeg !== null)('videos that programs make', () => {
  test.each(kinds)('the duration of $kind is right to half a second', async ({ name, options, isSeekable }) => {
    const seconds = 7.2;
    const file = await makeVideo(name, seconds, options);
    const measured = await measure(file.length, (start, end) => file.subarray(start, end));
    expect(Math.abs((measured.duration ?? 0) - seconds)).toBeLessThanOrEqual(0.5);
    expect(measured).toMatchObject({ isPending: false, isSeekable });
    expect(measured.requests).toBeLessThanOrEqual(20);
    if (s3 === null) return;
    const fileKey = `v1/${crypto.randomUUID()}`;
    await s3.put(fileKey, Readable.from([file]), { contentType: 'video/mp4' });
    expect(await measureStored(s3, { fileKey, size: file.length, head: Buffer.alloc(0) }, 20_000)).toEqual(measured);
    await s3.remove(fileKey);
  });
});

describe('a plain movie without tracks', () => {
  test.each([
    { moov: 'front', version: 0 },
    { moov: 'front', version: 1 },
    { moov: 'back', version: 0 },
    { moov: 'back', version: 1 },
  ] as const)('has the duration of its mvhd version $version with moov at the $moov', async ({ moov, version }) => {
    expect(await durationOf(makeMp4({ durationSeconds: 3725, moov, version }))).toBe(3725);
  });

  test.each([
    [0.4, 0],
    [0.5, 1],
    [7.6, 8],
    [7.4, 7],
  ])('of %d seconds counts as %d whole ones', async (durationSeconds, expected) => {
    expect(await durationOf(makeMp4({ durationSeconds, moov: 'front' }))).toBe(expected);
  });

  test('of duration 0 lasts 0 seconds', async () => {
    expect(await durationOf(makeMp4({ durationSeconds: 0, moov: 'back' }))).toBe(0);
  });

  test('of more than 2^32 time units is counted exactly in version 1', async () => {
    const header = makeMvhd({ version: 1, timescale: 10_000_000, duration: 36_000_000_000_000n });
    expect(await durationOf(box('moov', header))).toBe(3_600_000);
  });

  test('is read after boxes of unknown types, other children and a 64-bit mdat', async () => {
    const moov = box('moov', box('udta', Buffer.alloc(40)), box('iods', Buffer.alloc(5)), mvhd(42_000), box('trak'));
    const file = Buffer.concat([ftyp, box('free'), largeBox('mdat', Buffer.alloc(500)), box('abcd'), moov]);
    expect(await durationOf(file)).toBe(42);
  });

  test('is read from boxes with 64-bit sizes', async () => {
    expect(await durationOf(largeBox('moov', largeBox('mvhd', mvhd(42_000).subarray(8))))).toBe(42);
  });

  test('is read from a moov of size 0, which extends to the end of the file', async () => {
    expect(await durationOf(Buffer.concat([ftyp, claim('moov', 0), mvhd(42_000), box('trak')]))).toBe(42);
  });

  test('is read from the first moov only', async () => {
    expect(await durationOf(Buffer.concat([box('moov', mvhd(1000)), box('moov', mvhd(2000))]))).toBe(1);
  });
});

describe('a fragmented movie without fragments', () => {
  test.each([
    ['version 0', 90_000],
    ['version 1', 90_000n],
  ])('has the duration of its mehd, %s', async (_, mehdDuration) => {
    expect(await durationOf(box('moov', mvhd(0), mvex(mehdDuration)))).toBe(90);
    expect(await durationOf(box('moov', mvex(mehdDuration), mvhd(0)))).toBe(90);
    expect(await durationOf(box('moov', mvhd(1000), mvex(mehdDuration)))).toBe(90);
  });

  test('has no duration without a valid mehd, because its mvhd does not count fragments', async () => {
    expect(await durationOf(box('moov', mvhd(0), mvex()))).toBeNull();
    expect(await durationOf(box('moov', mvhd(1000), mvex()))).toBeNull();
    expect(await durationOf(box('moov', mvhd(0), mvex(0)))).toBeNull();
    expect(await durationOf(box('moov', mvhd(0), mvex(0xffff_ffff)))).toBeNull();
    expect(await durationOf(box('moov', mvhd(0), mvex(0xffff_ffff_ffff_ffffn)))).toBeNull();
  });
});

describe('there is no duration', () => {
  test.each<[string, Buffer]>([
    ['without moov', Buffer.concat([ftyp, box('mdat', Buffer.alloc(100))])],
    ['after a mdat of size 0', Buffer.concat([ftyp, claim('mdat', 0), box('moov', mvhd(1000))])],
    ['without mvhd', box('moov', box('trak', Buffer.alloc(100)))],
    ['in a mvhd outside of moov', mvhd(1000)],
    ['with timescale 0', box('moov', mvhd(1000, 0))],
    ['when it is all ones', box('moov', mvhd(0xffff_ffff))],
    [
      'when it is all ones in 64 bits',
      box('moov', makeMvhd({ version: 1, timescale: 1000, duration: 0xffff_ffff_ffff_ffffn })),
    ],
    ['longer than 2^31-1 seconds', box('moov', makeMvhd({ version: 1, timescale: 1, duration: 2n ** 31n }))],
    ['in an undefined version of mvhd', box('moov', box('mvhd', uint32(2 << 24), Buffer.alloc(96, 1)))],
    ['in a mvhd too short for its fields', box('moov', box('mvhd', Buffer.alloc(19, 0)))],
    ['after a box smaller than its header', Buffer.concat([claim('free', 7), box('moov', mvhd(1000))])],
    ['after a 64-bit size too small', Buffer.concat([largeBox('free', Buffer.alloc(0), 15n), box('moov', mvhd(1000))])],
    ['in a child that overruns its parent', Buffer.concat([claim('moov', 100), mvhd(1000)])],
    ['after a sibling that overruns its parent', box('moov', claim('udta', 500), mvhd(1000))],
    ['in a mvhd cut off by the end of the file', box('moov', mvhd(1000)).subarray(0, 40)],
    ['in a WebM of its first four bytes', Buffer.from([0x1a, 0x45, 0xdf, 0xa3])],
    ['in random bytes after a valid beginning', Buffer.concat([ftyp, Buffer.alloc(9_000, 0xa7)])],
  ])('%s', async (_, file) => {
    expect(await durationOf(file)).toBeNull();
  });
});

describe('what a file may cost', () => {
  test('the duration of 2 GiB with moov at the end takes few requests', async () => {
    const size = 2 * 1024 ** 3;
    const moov = box('moov', mvhd(5_400_000));
    const mdat = Buffer.concat([ftyp, claim('mdat', size - ftyp.length - moov.length)]);
    const read = (start: number, end: number): Buffer => {
      const bytes = Buffer.alloc(end - start);
      if (start < mdat.length) mdat.copy(bytes, 0, start);
      const at = size - moov.length;
      if (end > at) moov.copy(bytes, Math.max(0, at - start), Math.max(0, start - at));
      return bytes;
    };
    const { duration, requests } = await measure(size, read);
    expect(duration).toBe(5_400);
    expect(requests).toBeLessThanOrEqual(5);
  });

  test.skipIf(noFfmpeg !== null)('a fragmented file of 2 GiB takes few requests', async () => {
    const video = await makeVideo('video.mp4', 30, ['-c:v', 'libx264', '-an', '-movflags', 'frag_keyframe+empty_moov']);
    const size = 2 * 1024 ** 3;
    const firstFragment = video.indexOf('moof') - 4;
    const head = video.subarray(0, firstFragment);
    const tail = video.subarray(firstFragment);
    const gap = claim('free', size - video.length);
    const read = (start: number, end: number): Buffer => {
      const bytes = Buffer.alloc(end - start);
      const before = Buffer.concat([head, gap]);
      if (start < before.length) before.copy(bytes, 0, start);
      const at = size - tail.length;
      if (end > at) tail.copy(bytes, Math.max(0, at - start), Math.max(0, start - at));
      return bytes;
    };
    const { duration, requests } = await measure(size, read);
    expect(duration).toBe(30);
    expect(requests).toBeLessThanOrEqual(20);
  });

  test('a file that wants more requests or bytes than allowed is not read on', async () => {
    let requests = 0;
    const file = createBoundedFile(1024 ** 4, new Uint8Array(), async (start, end) => {
      requests += 1;
      return new Uint8Array(end - start);
    });
    for (let at = 0; at < 20; at += 1) await file.read(at * 1_000_000, at * 1_000_000 + 16);
    await expect(file.read(900_000_000, 900_000_016)).rejects.toThrow(ReadLimitReached);
    expect(requests).toBe(20);
    const other = createBoundedFile(1024 ** 4, new Uint8Array(), async (start, end) => new Uint8Array(end - start));
    await expect(other.read(0, 33 * 1024 * 1024)).rejects.toThrow(ReadLimitReached);
  });

  test('100 MB of empty boxes have no duration, and do not stop others', async () => {
    const empty = Buffer.concat(Array.from({ length: 8_192 }, () => box('free')));
    const read = (start: number, end: number) => {
      const bytes = Buffer.alloc(end - start);
      for (let at = 0; at < bytes.length; at += 1) bytes[at] = empty[(start + at) % empty.length] ?? 0;
      return bytes;
    };
    const size = 100 * 1024 * 1024;
    const [hostile, other] = await Promise.all([
      measure(size, read),
      durationOf(makeMp4({ durationSeconds: 3, moov: 'front' })),
    ]);
    expect(hostile).toMatchObject({ duration: null, isPending: false });
    expect(other).toBe(3);
  });

  test('a store that does not respond leaves the duration for later', async () => {
    const store = { read: () => new Promise<never>(() => undefined) } satisfies Pick<ObjectStore, 'read'>;
    const services = { store: store as unknown as ObjectStore, log: quietLog };
    const file = { workspaceId: 1, fileKey: 'v1/a', size: 10_000, type: 'video/mp4' as const };
    expect(await readDuration(services, file, 200)).toMatchObject({ duration: null, isPending: true });
    expect(await durationOf(makeMp4({ durationSeconds: 3, moov: 'front' }))).toBe(3);
  });

  test('only so many files wait; the others get their duration later, those of a busy workspace first', async () => {
    const video = makeMp4({ durationSeconds: 3, moov: 'front' });
    const opened = Promise.withResolvers<void>();
    const store = {
      async read(_key: string, { start, end }: { start: number; end?: number } = { start: 0 }) {
        await opened.promise;
        return Readable.from([video.subarray(start, end)]);
      },
    } satisfies Pick<ObjectStore, 'read'>;
    const services = { store: store as unknown as ObjectStore, log: quietLog };
    const read = (workspaceId: number) =>
      readDuration(services, { workspaceId, fileKey: 'v1/a', size: video.length, type: 'video/mp4' }, 60_000);
    const busy = Array.from({ length: MAX_THREADS + MAX_QUEUED }, () => read(1));
    expect(await read(1), 'one more of the busy workspace').toMatchObject({ duration: null, isPending: true });
    const quiet = read(2);
    expect(await busy.at(-1), 'the newest of the busy workspace').toMatchObject({ duration: null, isPending: true });
    opened.resolve();
    expect(await quiet).toMatchObject({ duration: 3, isPending: false });
    expect((await Promise.all(busy.slice(0, -1))).filter(({ duration }) => duration === 3)).toHaveLength(
      busy.length - 1,
    );
  });
});
