import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createMp4DurationReader } from '../../src/media/mp4-duration.ts';
import { box, makeMp4, makeMvhd, uint32, uint64 } from '../support/media.ts';

/** Pushes the bytes in chunks of these sizes, repeatedly; by default in one chunk. */
function durationOf(file: Buffer, chunkSizes: number[] = [file.length || 1]): number | null {
  const reader = createMp4DurationReader();
  let at = 0;
  for (let turn = 0; at < file.length; turn += 1) {
    const size = chunkSizes[turn % chunkSizes.length] ?? 1;
    reader.push(file.subarray(at, at + size));
    at += size;
  }
  return reader.duration();
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

const validFile = fc
  .record({
    durationSeconds: fc.integer({ min: 0, max: 100_000 }),
    moov: fc.constantFrom('front' as const, 'back' as const),
    version: fc.constantFrom(0 as const, 1 as const),
    timescale: fc.constantFrom(1, 600, 1000, 30_000),
    mdatBytes: fc.integer({ min: 0, max: 300 }),
  })
  .map((options) => ({ seconds: options.durationSeconds, file: makeMp4(options) }));

describe('a plain movie', () => {
  test.each([
    { moov: 'front', version: 0 },
    { moov: 'front', version: 1 },
    { moov: 'back', version: 0 },
    { moov: 'back', version: 1 },
  ] as const)('has the duration of its mvhd version $version with moov at the $moov', ({ moov, version }) => {
    expect(durationOf(makeMp4({ durationSeconds: 3725, moov, version }))).toBe(3725);
  });

  test.each([
    [0.4, 0],
    [0.5, 1],
    [7.6, 8],
    [7.4, 7],
  ])('of %d seconds counts as %d whole ones', (durationSeconds, expected) => {
    expect(durationOf(makeMp4({ durationSeconds, moov: 'front' }))).toBe(expected);
  });

  test('of duration 0 lasts 0 seconds', () => {
    expect(durationOf(makeMp4({ durationSeconds: 0, moov: 'back' }))).toBe(0);
  });

  test('of more than 2^32 time units is counted exactly in version 1', () => {
    const header = makeMvhd({ version: 1, timescale: 10_000_000, duration: 36_000_000_000_000n });
    expect(durationOf(box('moov', header))).toBe(3_600_000);
  });

  test('is read after boxes of unknown types, other children and a 64-bit mdat', () => {
    const moov = box('moov', box('udta', Buffer.alloc(40)), box('iods', Buffer.alloc(5)), mvhd(42_000), box('trak'));
    const file = Buffer.concat([ftyp, box('free'), largeBox('mdat', Buffer.alloc(500)), box('abcd'), moov]);
    expect(durationOf(file)).toBe(42);
  });

  test('is read from boxes with 64-bit sizes', () => {
    expect(durationOf(largeBox('moov', largeBox('mvhd', mvhd(42_000).subarray(8))))).toBe(42);
  });

  test('is read from a moov of size 0, which extends to the end of the file', () => {
    expect(durationOf(Buffer.concat([ftyp, claim('moov', 0), mvhd(42_000), box('trak')]))).toBe(42);
  });

  test('is read from the first moov only', () => {
    expect(durationOf(Buffer.concat([box('moov', mvhd(1000)), box('moov', mvhd(2000))]))).toBe(1);
  });
});

describe('a fragmented movie', () => {
  test.each([
    ['version 0', 90_000],
    ['version 1', 90_000n],
  ])('has the duration of its mehd, %s', (_, mehdDuration) => {
    expect(durationOf(box('moov', mvhd(0), mvex(mehdDuration)))).toBe(90);
    expect(durationOf(box('moov', mvex(mehdDuration), mvhd(0)))).toBe(90);
    expect(durationOf(box('moov', mvhd(1000), mvex(mehdDuration)))).toBe(90);
  });

  test('without a valid mehd has no duration, because its mvhd does not count fragments', () => {
    expect(durationOf(box('moov', mvhd(0), mvex()))).toBeNull();
    expect(durationOf(box('moov', mvhd(1000), mvex()))).toBeNull();
    expect(durationOf(box('moov', mvhd(0), mvex(0)))).toBeNull();
    expect(durationOf(box('moov', mvhd(0), mvex(0xffff_ffff)))).toBeNull();
    expect(durationOf(box('moov', mvhd(0), mvex(0xffff_ffff_ffff_ffffn)))).toBeNull();
  });
});

describe('there is no duration', () => {
  test.each<[string, Buffer]>([
    ['in no bytes', Buffer.alloc(0)],
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
    ['in a version 1 mvhd too short for its fields', box('moov', box('mvhd', uint32(1 << 24), Buffer.alloc(27, 1)))],
    ['after a box smaller than its header', Buffer.concat([claim('free', 7), box('moov', mvhd(1000))])],
    [
      'after a 64-bit size smaller than its header',
      Buffer.concat([largeBox('free', Buffer.alloc(0), 15n), box('moov', mvhd(1000))]),
    ],
    ['in a child that overruns its parent', Buffer.concat([claim('moov', 100), mvhd(1000)])],
    ['after a sibling that overruns its parent', box('moov', claim('udta', 500), mvhd(1000))],
    ['in a mvhd of size 0', box('moov', claim('mvhd', 0), mvhd(1000).subarray(8))],
    ['after a child of size 0', box('moov', claim('udta', 0), mvhd(1000))],
    ['in a mvhd cut off by the end of the file', box('moov', mvhd(1000)).subarray(0, 40)],
    ['when it is 0 and the rest of moov is missing', Buffer.concat([claim('moov', 500), mvhd(0)])],
    ['in a mehd too short for its field', box('moov', mvhd(0), box('mvex', box('mehd', uint32(0))))],
    [
      'in a version 1 mehd too short for its field',
      box('moov', mvhd(0), box('mvex', box('mehd', uint32(1 << 24), uint32(1)))),
    ],
    ['in a mvex too short for a header', box('moov', box('mvex', Buffer.alloc(4)), mvhd(0))],
    ['in a mvex too short for a 64-bit size', box('moov', box('mvex', claim('mehd', 1)), mvhd(0))],
    [
      'behind more boxes than any real file has',
      Buffer.concat([Buffer.alloc(800_000, box('free')), box('moov', mvhd(1000))]),
    ],
  ])('%s', (_, file) => {
    expect(durationOf(file)).toBeNull();
  });

  test('the maximum is 2^31-1 seconds', () => {
    const header = makeMvhd({ version: 1, timescale: 1, duration: 2n ** 31n - 1n });
    expect(durationOf(box('moov', header))).toBe(2_147_483_647);
  });
});

test('the duration of a mvhd remains after later damage', () => {
  expect(durationOf(box('moov', mvhd(9000), claim('trak', 3)))).toBe(9);
});

test('the duration does not depend on how the file is split into chunks', () => {
  const chunkSizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(validFile, chunkSizes, ({ seconds, file }, sizes) => {
      expect(durationOf(file)).toBe(seconds);
      expect(durationOf(file, sizes)).toBe(seconds);
      expect(durationOf(file, [1])).toBe(seconds);
    }),
  );
});

test('an empty chunk changes nothing', () => {
  const reader = createMp4DurationReader();
  const file = makeMp4({ durationSeconds: 5, moov: 'back' });
  for (let at = 0; at < file.length; at += 1) {
    reader.push(Buffer.alloc(0));
    reader.push(file.subarray(at, at + 1));
  }
  expect(reader.duration()).toBe(5);
});

test('random bytes, with and without a box header, never throw and give the same result byte by byte', () => {
  const types = ['moov', 'mvhd', 'mvex', 'mehd', 'mdat', 'free'];
  const plausibleBox = fc
    .tuple(fc.constantFrom(0, 1, 7, 8, 16, 40, 108, 200, 0xffff_ffff), fc.constantFrom(...types), fc.uint8Array())
    .map(([size, type, body]) => Buffer.concat([claim(type, size), body]));
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 500 }).map((array) => Buffer.from(array)),
    fc.array(plausibleBox).map((boxes) => Buffer.concat(boxes)),
    fc.array(plausibleBox).map((boxes) => box('moov', ...boxes)),
    fc.array(plausibleBox).map((boxes) => box('moov', mvhd(0), box('mvex', ...boxes), ...boxes)),
  );
  fc.assert(
    fc.property(bytes, (file) => {
      expect(durationOf(file, [1])).toBe(durationOf(file));
    }),
    { numRuns: 2000 },
  );
});

test('a damaged file never throws and gives null or whole seconds', () => {
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(validFile, damage, fc.nat(), ({ file }, changes, cut) => {
      for (const [at, value] of changes) file[at % file.length] = value;
      const duration = durationOf(file.subarray(0, cut % 2 === 0 ? file.length : cut % file.length));
      expect(duration === null || (Number.isInteger(duration) && duration >= 0 && duration < 2 ** 31)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test.each<[string, Buffer]>([
  ['mdat', claim('mdat', 2 ** 30)],
  ['64-bit mdat', largeBox('mdat', Buffer.alloc(0), 2n ** 40n)],
  ['moov', Buffer.concat([claim('moov', 2 ** 30), claim('trak', 2 ** 30 - 8)])],
  ['mvhd', Buffer.concat([claim('moov', 2 ** 30), claim('mvhd', 2 ** 30 - 8)])],
  ['mehd', Buffer.concat([claim('moov', 2 ** 30), claim('mvex', 2 ** 30 - 8), claim('mehd', 2 ** 30 - 16)])],
])('a %s that claims a gigabyte is passed over without holding its bytes', async (_, start) => {
  const reader = createMp4DurationReader();
  reader.push(start);
  const before = await bytesInUse();
  // A new chunk each time: a reader that holds on to bytes or chunks would use 32 MB.
  for (let pushed = 0; pushed < 512; pushed += 1) reader.push(Buffer.alloc(65_536));
  const held = (await bytesInUse()) - before;
  expect(reader.duration()).toBeNull();
  expect(held).toBeLessThan(1_000_000);
});

/**
 * The bytes of all referenced buffers. Buffers are freed in the background, so it waits for a steady value.
 */
async function bytesInUse(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const readings: number[] = [];
  while (readings.length < 5 || new Set(readings.slice(-5)).size > 1) {
    collectGarbage();
    await setTimeout(2);
    readings.push(process.memoryUsage().arrayBuffers);
  }
  return readings.at(-1) ?? 0;
}
