/**
 * Verifies the images that callers send as posters, and removes their metadata. Node has no decoder, so the structure
 * of the file is verified and its pixels are not.
 */
import { badField } from '../core/errors.ts';

export const posterTypes = ['image/jpeg', 'image/webp'] as const;
export type PosterType = (typeof posterTypes)[number];
export type PosterImage = { type: PosterType; bytes: Buffer };

/** Of the file, in bytes. */
export const MAX_POSTER_BYTES = 40_960;
const MAX_WIDTH = 480;
const MAX_HEIGHT = 2_000;
/** Of a WebP. No JPEG is as short. */
const RIFF_HEADER_BYTES = 12;

type Parsed = { type: PosterType; width: number; height: number; parts: Buffer[] };

/**
 * Returns the image without metadata, and without anything that follows it. Throws 400 unless it is a JPEG or WebP
 * with one picture of at most 480 × 2,000 pixels.
 */
export function readPosterImage(bytes: Buffer): PosterImage {
  const parsed = bytes.length < RIFF_HEADER_BYTES ? null : (parseJpeg(bytes) ?? parseWebp(bytes));
  if (parsed === null) throw badField('poster', 'The poster must be a JPEG or WebP image');
  const { type, width, height, parts } = parsed;
  if (width < 1 || height < 1 || width > MAX_WIDTH || height > MAX_HEIGHT)
    throw badField('poster', 'The poster may have at most 480 × 2,000 pixels');
  return { type, bytes: Buffer.concat(parts) };
}

/** Baseline, extended and progressive frames with Huffman coding, which all browsers display. */
const JPEG_FRAMES = [0xc0, 0xc1, 0xc2];
/** Tables and the restart interval. */
const JPEG_TABLES = [0xc4, 0xdb, 0xdd];
const JPEG_SCAN = 0xda;
const JPEG_END = 0xd9;
/** `APP14` of Adobe says how colours are encoded. */
const JPEG_ADOBE = 0xee;
/** The other application segments, such as Exif, colour profiles and thumbnails, and comments. */
const isJpegMetadata = (marker: number): boolean => (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe;

/** Returns null unless this is a JPEG. `parts` are what remains without metadata. */
export function parseJpeg(bytes: Buffer): Parsed | null {
  if (bytes.readUInt16BE(0) !== 0xffd8) return null;
  const parts = [bytes.subarray(0, 2)];
  let frame: { width: number; height: number } | null = null;
  let scans = 0;
  for (let at = 2; at + 1 < bytes.length; ) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff) return null;
    // Any number of fill bytes may precede a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === JPEG_END) {
      if (frame === null || scans === 0) return null;
      return { type: 'image/jpeg', ...frame, parts: [...parts, bytes.subarray(at, at + 2)] };
    }
    if (at + 4 > bytes.length) return null;
    const length = bytes.readUInt16BE(at + 2);
    const end = at + 2 + length;
    if (length < 2 || end > bytes.length) return null;
    const segment = bytes.subarray(at, end);
    at = end;
    if (marker === JPEG_SCAN) {
      if (frame === null) return null;
      const scanEnd = endOfScan(bytes, end);
      scans += 1;
      parts.push(segment, bytes.subarray(end, scanEnd));
      at = scanEnd;
    } else if (JPEG_FRAMES.includes(marker)) {
      if (frame !== null) return null;
      frame = readJpegFrame(segment);
      if (frame === null) return null;
      parts.push(segment);
    } else if (JPEG_TABLES.includes(marker) || marker === JPEG_ADOBE) parts.push(segment);
    else if (!isJpegMetadata(marker)) return null;
  }
  return null;
}

/** A frame of 8 bits for each of one component (grey) or three. */
function readJpegFrame(segment: Buffer): { width: number; height: number } | null {
  const components = segment[9] ?? 0;
  if (segment[4] !== 8 || (components !== 1 && components !== 3) || segment.length !== 10 + 3 * components) return null;
  return { height: segment.readUInt16BE(5), width: segment.readUInt16BE(7) };
}

/** Returns where the data of a scan ends: at a marker that is neither an escaped 0xff nor a restart. */
function endOfScan(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(0xff, start); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && (next < 0xd0 || next > 0xd7)) return at;
  }
  return bytes.length;
}

const CHUNK_HEADER_BYTES = 8;
/** The flag of an image with transparent pixels. */
const VP8X_ALPHA = 0x10;

/** Chunks with Exif, XMP or a colour profile are left out. An animation is rejected. */
export function parseWebp(bytes: Buffer): Parsed | null {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP') return null;
  const end = CHUNK_HEADER_BYTES + bytes.readUInt32LE(4);
  if (end > bytes.length) return null;
  let alpha: Buffer | null = null;
  for (let at = RIFF_HEADER_BYTES; at + CHUNK_HEADER_BYTES <= end; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const data = bytes.subarray(at + CHUNK_HEADER_BYTES, at + CHUNK_HEADER_BYTES + size);
    // Chunks of an odd size are followed by a byte of padding.
    at += CHUNK_HEADER_BYTES + size + (size % 2);
    if (data.length < size || at > end + 1 || name === 'ANIM' || name === 'ANMF') return null;
    if (name === 'ALPH') alpha = data;
    if (name !== 'VP8 ' && name !== 'VP8L') continue;
    const dimensions = name === 'VP8 ' ? readLossyFrame(data) : readLosslessFrame(data);
    if (dimensions === null) return null;
    const frame = toChunk(name, data);
    const hasAlpha = alpha !== null && name === 'VP8 ';
    const chunks = hasAlpha && alpha ? [toExtendedHeader(dimensions), toChunk('ALPH', alpha), frame] : [frame];
    return { type: 'image/webp', ...dimensions, parts: [toRiffHeader(chunks), ...chunks] };
  }
  return null;
}

/** RFC 6386, section 9.1: a key frame, the start code, and two sizes of 14 bits. */
function readLossyFrame(data: Buffer): { width: number; height: number } | null {
  if (data.length < 10 || ((data[0] ?? 1) & 1) !== 0 || data.readUIntBE(3, 3) !== 0x9d012a) return null;
  return { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff };
}

/** RFC 9649, section 3.4: the signature, two sizes of 14 bits less one, and the version 0. */
function readLosslessFrame(data: Buffer): { width: number; height: number } | null {
  if (data.length < 5 || data[0] !== 0x2f) return null;
  const bits = data.readUInt32LE(1);
  if (bits >>> 29 !== 0) return null;
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

function toChunk(name: string, data: Buffer): Buffer {
  const header = Buffer.alloc(CHUNK_HEADER_BYTES);
  header.write(name, 'latin1');
  header.writeUInt32LE(data.length, 4);
  return Buffer.concat([header, data, Buffer.alloc(data.length % 2)]);
}

function toExtendedHeader({ width, height }: { width: number; height: number }): Buffer {
  const data = Buffer.alloc(10);
  data[0] = VP8X_ALPHA;
  data.writeUIntLE(Math.max(0, width - 1), 4, 3);
  data.writeUIntLE(Math.max(0, height - 1), 7, 3);
  return toChunk('VP8X', data);
}

function toRiffHeader(chunks: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(RIFF_HEADER_BYTES);
  const size = chunks.reduce((sum, { length }) => sum + length, 4);
  header.write('RIFF', 'latin1');
  header.writeUInt32LE(size, 4);
  header.write('WEBP', 8, 'latin1');
  return header;
}
