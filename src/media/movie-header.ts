/**
 * Reads the movie header of an MP4. Section numbers refer to ISO/IEC 14496-12:2015. A file is a sequence of boxes. Only
 * `moov` and, inside it, `mvhd` and `mvex/mehd` are read.
 */
import type { RangedFile } from './range-reader.ts';

/** `end` is the offset of the first byte after `moov`. `seconds` is null if the header names no duration. */
export type MovieHeader = { end: number; isFragmented: boolean; seconds: number | null };

/** A box. `body` is the offset of the first byte of its body, `end` that of the first byte after it. */
type Box = { type: string; body: number; end: number };

const BOX_HEADER_BYTES = 8;
const LARGE_BOX_HEADER_BYTES = 16;
/** Real files have tens of boxes before `moov` ends. */
const MAX_BOXES = 10_000;

/**
 * Returns null if there is no `moov`. In a fragmented movie (one with `mvex`), the duration is that of `mehd` (8.8.2),
 * because its `mvhd` (8.2.2) has 0 or the duration of the first fragment only.
 */
export async function readMovieHeader(file: RangedFile): Promise<MovieHeader | null> {
  const moov = await findBox(file, 'moov', 0, file.size);
  if (moov === null) return null;
  const mvhd = await findBox(file, 'mvhd', moov.body, moov.end);
  const mvex = await findBox(file, 'mvex', moov.body, moov.end);
  const mehd = mvex && (await findBox(file, 'mehd', mvex.body, mvex.end));
  const header = mvhd && (await readTimes(file, mvhd, 2));
  if (header === null || header.timescale === 0) return { end: moov.end, isFragmented: mvex !== null, seconds: null };
  const fragments = mehd && (await readTimes(file, mehd, 0));
  const duration = mvex === null ? header.duration : fragments?.duration || null;
  return {
    end: moov.end,
    isFragmented: mvex !== null,
    seconds: duration === null ? null : duration / header.timescale,
  };
}

/** Finds the first box of a type between two offsets. Returns null if there is none, or a box before it is invalid. */
async function findBox(file: RangedFile, type: string, from: number, until: number): Promise<Box | null> {
  let at = from;
  for (let count = 0; count < MAX_BOXES; count += 1) {
    const box = await readBox(file, at, until);
    if (box === null || box.type === type) return box;
    at = box.end;
  }
  return null;
}

/** Reads the header of a box (4.2). Returns null if there is no valid box that ends at or before `until`. */
async function readBox({ size, read }: RangedFile, at: number, until: number): Promise<Box | null> {
  if (at + BOX_HEADER_BYTES > until) return null;
  const view = toView(await read(at, Math.min(at + LARGE_BOX_HEADER_BYTES, until)));
  const type = String.fromCharCode(view.getUint8(4), view.getUint8(5), view.getUint8(6), view.getUint8(7));
  const shortSize = view.getUint32(0);
  const isLarge = shortSize === 1;
  if (isLarge && view.byteLength < LARGE_BOX_HEADER_BYTES) return null;
  const body = at + (isLarge ? LARGE_BOX_HEADER_BYTES : BOX_HEADER_BYTES);
  // A size of 0 means "to the end of the file", so inside another box it is invalid.
  const end = shortSize === 0 && until === size ? size : at + (isLarge ? Number(view.getBigUint64(8)) : shortSize);
  return end < body || end > until ? null : { type, body, end };
}

/**
 * Reads the times of `mvhd`, after whose version `skipped` times, and a timescale, come before the duration; or the
 * duration of `mehd`. A duration of all ones cannot be determined (8.2.2), and becomes null.
 */
async function readTimes(
  { read }: RangedFile,
  { body, end }: Box,
  skipped: 0 | 2,
): Promise<{ timescale: number; duration: number | null } | null> {
  if (end < body + 4) return null;
  const version = toView(await read(body, body + 4)).getUint8(0);
  const timeBytes = version === 1 ? 8 : 4;
  const timescaleAt = body + 4 + skipped * timeBytes;
  const durationAt = timescaleAt + (skipped === 0 ? 0 : 4);
  if (version > 1 || end < durationAt + timeBytes) return null;
  const view = toView(await read(timescaleAt, durationAt + timeBytes));
  const timescale = skipped === 0 ? 1 : view.getUint32(0);
  const offset = durationAt - timescaleAt;
  const duration = version === 1 ? view.getBigUint64(offset) : BigInt(view.getUint32(offset));
  const isUnknown = duration === (1n << BigInt(timeBytes * 8)) - 1n;
  return { timescale, duration: isUnknown ? null : Number(duration) };
}

function toView(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
