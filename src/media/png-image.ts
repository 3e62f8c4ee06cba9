/** Reads the structure of a PNG (https://www.w3.org/TR/png-3/). */
import { crc32 } from 'node:zlib';

export type ParsedPng = { type: 'image/png'; width: number; height: number; parts: Buffer[] };

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The length and the name before the data, and the checksum after it. */
const NAME_AT = 4;
const DATA_AT = 8;
const CHUNK_BYTES = 12;
const HEADER_BYTES = 13;

/** The chunks that make up the picture: colours, transparent colours and pixels. Text, Exif and frames are left out. */
const KEPT = ['PLTE', 'tRNS', 'IDAT'];

/** The bit depths of each colour type. */
const DEPTHS: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

/**
 * Returns the size of the picture, and the parts of the file without metadata, further frames and anything after the
 * end. Null unless all chunks are whole, begin with the header, and have the right checksum.
 */
export function parsePng(bytes: Buffer): ParsedPng | null {
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return null;
  const parts: Buffer[] = [SIGNATURE];
  let size: { width: number; height: number } | null = null;
  let hasPixels = false;
  for (let at = SIGNATURE.length; at + CHUNK_BYTES <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const end = at + CHUNK_BYTES + length;
    if (end > bytes.length) return null;
    const chunk = bytes.subarray(at, end);
    const name = chunk.toString('latin1', NAME_AT, DATA_AT);
    if (crc32(chunk.subarray(NAME_AT, -4)) !== chunk.readUInt32BE(chunk.length - 4)) return null;
    at = end;
    if (size === null) {
      size = name === 'IHDR' ? readHeader(chunk.subarray(DATA_AT, -4)) : null;
      if (size === null) return null;
      parts.push(chunk);
    } else if (name === 'IEND') {
      return hasPixels && length === 0 ? { type: 'image/png', ...size, parts: [...parts, chunk] } : null;
    } else if (KEPT.includes(name)) {
      hasPixels ||= name === 'IDAT';
      parts.push(chunk);
    } else if (isNeeded(name)) return null;
  }
  return null;
}

/** A decoder must not ignore a chunk whose name begins with a capital. */
function isNeeded(name: string): boolean {
  return /^[A-Z]/.test(name);
}

function readHeader(data: Buffer): { width: number; height: number } | null {
  const [depth = 0, colorType = 0, compression, filter, interlace = 2] = data.subarray(8);
  if (data.length !== HEADER_BYTES || compression !== 0 || filter !== 0 || interlace > 1) return null;
  if (!DEPTHS[colorType]?.includes(depth)) return null;
  return { width: data.readUInt32BE(0), height: data.readUInt32BE(4) };
}
