/** Which images are accepted as posters, and what remains of them. */
import { expect, test } from 'vitest';
import { readPosterImage } from '../../src/media/poster-image.ts';
import { jpeg, losslessWebp, transparentWebp, webp } from '../support/images.ts';

const NO_IMAGE = 'The poster must be a JPEG or WebP image';
const TOO_LARGE = 'The poster may have at most 480 × 2,000 pixels';
const SECRET = 'Exif: 52.52 N, 13.40 E';

/** Returns the message of the rejection, or the type. */
function outcome(bytes: Uint8Array): string {
  try {
    return readPosterImage(Buffer.from(bytes)).type;
  } catch (error) {
    return error instanceof Error ? error.message : 'unknown';
  }
}

function segment(marker: number, data: Buffer): Buffer {
  const header = Buffer.from([0xff, marker, 0, 0]);
  header.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([header, data]);
}

function chunk(name: string, data: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(data.length);
  return Buffer.concat([Buffer.from(name), size, data, Buffer.alloc(data.length % 2)]);
}

function riff(...chunks: Buffer[]): Buffer {
  return chunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...chunks]));
}

/** Inserts segments after the start of a JPEG. */
function withSegments(...segments: Buffer[]): Buffer {
  return Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);
}

/** Sets the size in the frame of the JPEG. */
function resized(width: number, height: number): Buffer {
  const bytes = Buffer.from(jpeg);
  const frame = bytes.indexOf(Buffer.from([0xff, 0xc0]));
  bytes.writeUInt16BE(height, frame + 5);
  bytes.writeUInt16BE(width, frame + 7);
  return bytes;
}

test('JPEG and WebP of every kind stay the pictures that they are', () => {
  expect([webp, transparentWebp, losslessWebp].map((one) => readPosterImage(one))).toEqual(
    [webp, transparentWebp, losslessWebp].map((bytes) => ({ type: 'image/webp', bytes })),
  );
  const { type, bytes } = readPosterImage(jpeg);
  expect([type, bytes.subarray(0, 2), bytes.subarray(-2)]).toEqual([
    'image/jpeg',
    Buffer.from([0xff, 0xd8]),
    Buffer.from([0xff, 0xd9]),
  ]);
  // Nothing is left to remove.
  expect(readPosterImage(bytes).bytes).toEqual(bytes);
});

test('metadata, profiles, thumbnails and whatever follows the picture are removed', () => {
  const exif = Buffer.from(`Exif\0\0${SECRET}`);
  const markers = [0xe0, 0xe1, 0xe2, 0xed, 0xef, 0xfe];
  const clean = readPosterImage(jpeg).bytes;
  const dirty = withSegments(...markers.map((marker) => segment(marker, exif)), Buffer.from([0xff, 0xff]));
  expect(readPosterImage(dirty).bytes).toEqual(clean);
  expect(readPosterImage(Buffer.concat([jpeg, Buffer.from(`<script>${SECRET}</script>`)])).bytes).toEqual(clean);

  const picture = webp.subarray(12);
  const metadata = ['EXIF', 'XMP ', 'ICCP', 'abcd'].map((name) => chunk(name, exif));
  const header = chunk('VP8X', Buffer.from([0x2c, 0, 0, 0, 31, 0, 0, 17, 0, 0]));
  expect(readPosterImage(riff(header, ...metadata, picture, ...metadata)).bytes).toEqual(webp);
  expect(readPosterImage(Buffer.concat([webp, exif])).bytes).toEqual(webp);
  const noisy = riff(...metadata, transparentWebp.subarray(12), ...metadata);
  expect(readPosterImage(noisy).bytes).toEqual(transparentWebp);
});

test('a picture may have up to 480 × 2,000 pixels', () => {
  const sizes = [
    [480, 2_000],
    [1, 1],
    [481, 10],
    [10, 2_001],
    [65_535, 65_535],
    [0, 10],
  ] as const;
  expect(sizes.map(([width, height]) => outcome(resized(width, height)))).toEqual([
    ...['image/jpeg', 'image/jpeg'],
    ...new Array(4).fill(TOO_LARGE),
  ]);
  const large = Buffer.from(losslessWebp);
  large.writeUInt32LE(480 | (3 << 14), 21);
  expect(outcome(large)).toBe(TOO_LARGE);
});

test('every part of a picture, and every other file, is rejected without another error', () => {
  for (const whole of [jpeg, webp, transparentWebp, losslessWebp])
    for (let length = 0; length < whole.length; length += 1)
      expect(outcome(whole.subarray(0, length)), `${length} of ${whole.length} bytes`).toBe(NO_IMAGE);
  const animation = riff(chunk('VP8X', Buffer.alloc(10)), chunk('ANIM', Buffer.alloc(6)), webp.subarray(12));
  const others: Buffer[] = [
    ...[animation, riff(), riff(chunk('VP8 ', Buffer.alloc(20))), riff(chunk('VP8L', Buffer.alloc(20)))],
    // Without a frame, with two, of 12 bits, and with arithmetic coding.
    Buffer.from([0xff, 0xd8, 0xff, 0xd9, ...Buffer.alloc(20)]),
    withSegments(segment(0xc0, Buffer.from([8, 0, 9, 0, 9, 1, 1, 0x11, 0]))),
    Buffer.from(jpeg).fill(
      12,
      jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 4,
      jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 5,
    ),
    Buffer.from(jpeg).fill(
      0xc9,
      jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 1,
      jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 2,
    ),
    ...[
      Buffer.from('GIF89a..............'),
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      Buffer.alloc(40_960),
    ],
  ];
  expect(others.map(outcome)).toEqual(others.map(() => NO_IMAGE));
});

test('pictures with any bytes changed are read or rejected, and never fail otherwise', () => {
  const seen = new Set<string>();
  for (const whole of [jpeg, webp, transparentWebp, losslessWebp])
    for (let at = 0; at < whole.length; at += 1)
      for (const value of [0, 1, 0x7f, 0xff]) {
        const changed = Buffer.from(whole);
        changed[at] = value;
        seen.add(outcome(changed));
      }
  expect([...seen].sort()).toEqual([NO_IMAGE, TOO_LARGE, 'image/jpeg', 'image/webp'].sort());
});
