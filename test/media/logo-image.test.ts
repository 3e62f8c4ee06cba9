/** Which images are accepted as logos, and what remains of them. */
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { readLogoImage } from '../../src/media/logo-image.ts';
import { jpeg, png, webp } from '../support/images.ts';

const NO_IMAGE = 'The logo must be a PNG, JPEG or WebP image';
const TOO_LARGE = 'The logo may have at most 2,000 × 2,000 pixels';
const SECRET = 'Author: Vera';
const SIGNATURE = png.subarray(0, 8);
/** The header of a picture has 25 bytes after the signature. */
const HEADER_END = 33;

function outcome(bytes: Uint8Array): string {
  try {
    return readLogoImage(Buffer.from(bytes)).type;
  } catch (error) {
    return error instanceof Error ? error.message : 'unknown';
  }
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}

function header(width: number, height: number, ...rest: number[]): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width);
  data.writeUInt32BE(height, 4);
  data.set(rest.length === 0 ? [8, 2, 0, 0, 0] : rest, 8);
  return chunk('IHDR', data);
}

function withHeader(bytes: Buffer): Buffer {
  return Buffer.concat([SIGNATURE, bytes, png.subarray(HEADER_END)]);
}

/** Inserts chunks after the header. */
function withChunks(...chunks: Buffer[]): Buffer {
  return Buffer.concat([png.subarray(0, HEADER_END), ...chunks, png.subarray(HEADER_END)]);
}

test('PNG, JPEG and WebP are recognised by their bytes', () => {
  expect([png, jpeg, webp].map(outcome)).toEqual(['image/png', 'image/jpeg', 'image/webp']);
  expect(readLogoImage(png).bytes).toEqual(png);
});

test('text, Exif, further frames and what follows the end of a PNG are removed', () => {
  const [text, exif] = [chunk('tEXt', Buffer.from(SECRET)), chunk('eXIf', Buffer.from(SECRET))];
  const frames = [chunk('acTL', Buffer.alloc(8)), chunk('fdAT', Buffer.from(SECRET))];
  const polyglot = Buffer.concat([withChunks(text, exif, ...frames), Buffer.from('<script>alert(1)</script>')]);
  expect(readLogoImage(polyglot).bytes).toEqual(png);
});

test.each<[string, Buffer]>([
  ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"></svg>')],
  ['HTML', Buffer.from('<!doctype html><script>alert(1)</script>')],
  ['a GIF', Buffer.from('GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000;\u0000\u0000\u0000\u0000\u0000')],
  ['nothing', Buffer.alloc(0)],
  ['a signature alone', SIGNATURE],
  ['a PNG without its end', png.subarray(0, -12)],
  ['a PNG that is cut off', png.subarray(0, -1)],
  ['a PNG with a wrong checksum', Buffer.from(png.map((byte, index) => (index === 16 ? byte + 1 : byte)))],
  ['a PNG that does not begin with its header', Buffer.concat([SIGNATURE, chunk('tEXt', Buffer.alloc(1)), png])],
  ['a PNG with two headers', withChunks(header(1, 1))],
  ['a PNG without pixels', Buffer.concat([png.subarray(0, HEADER_END), png.subarray(-12)])],
  ['a PNG with a chunk that nobody knows', withChunks(chunk('ABCD', Buffer.alloc(1)))],
  ['a PNG of an unknown color type', withHeader(header(1, 1, 8, 5, 0, 0, 0))],
  ['a PNG of a wrong depth', withHeader(header(1, 1, 3, 2, 0, 0, 0))],
  ['a PNG of an unknown filter', withHeader(header(1, 1, 8, 2, 0, 1, 0))],
  ['a chunk that claims to be longer than the file', withChunks(Buffer.from('ffffffff49444154', 'hex'))],
])('%s is rejected', (_name, bytes) => {
  expect(outcome(bytes)).toBe(NO_IMAGE);
});

test('a logo has at most 2,000 pixels on each side, and at least one', () => {
  const sizes = [
    [2_000, 2_000],
    [2_001, 1],
    [1, 2_001],
    [0, 1],
    [4_294_967_295, 1],
  ] as const;
  const outcomes = sizes.map(([width, height]) => outcome(withHeader(header(width, height))));
  expect(outcomes).toEqual(['image/png', TOO_LARGE, TOO_LARGE, TOO_LARGE, TOO_LARGE]);
});
