/** Computes the duration of an MP4 or WebM from a few ranges of the file. */
import { EncodedPacketSink, type Input } from 'mediabunny';
import type { MediaResult } from './media-task.ts';
import { type MovieHeader, readMovieHeader } from './movie-header.ts';
import { openInput } from './open-input.ts';
import type { RangedFile } from './range-reader.ts';

/** 68 years. A longer duration means that the file is damaged or forged. */
const MAX_SECONDS = 2 ** 31 - 1;
/** How much of the end is searched for the last fragment: at first, and if it begins earlier. */
const TAIL_BYTES = [1024 * 1024, 12 * 1024 * 1024];
/** The largest header of what stands for bytes that are left out. Real fragments are larger. */
const MIN_SKIPPED_BYTES = 16;
/** How much of the beginning of a WebM is searched for its first cluster. */
const HEAD_BYTES = 256 * 1024;

const EBML_ID = [0x1a, 0x45, 0xdf, 0xa3];

/**
 * Returns the duration in whole seconds; null if the file does not tell it, is damaged, or needs more reads than its
 * source allows. The last fragment of a file without an
 * index says when it ends, so that only the beginning and the end of such a file are read.
 */
export async function computeDuration(file: RangedFile): Promise<Pick<MediaResult, 'duration' | 'isSeekable'>> {
  const header = (await isWebm(file)) ? null : await readMovieHeader(file);
  const isSeekable = header !== null && !header.isFragmented;
  // A damaged file may still be remuxed, or not.
  const seconds = await (header === null ? readWebm(file) : readMp4(file, header)).catch(() => header?.seconds ?? null);
  const rounded = seconds === null ? null : Math.round(seconds);
  const duration = rounded !== null && rounded >= 0 && rounded <= MAX_SECONDS ? rounded : null;
  return { duration, isSeekable };
}

async function isWebm({ size, read }: RangedFile): Promise<boolean> {
  return size >= EBML_ID.length && (await read(0, EBML_ID.length)).every((byte, index) => byte === EBML_ID[index]);
}

async function readMp4(file: RangedFile, { end, isFragmented, seconds }: MovieHeader): Promise<number | null> {
  // Some files have a header without tracks, or with tracks of a kind that is not known.
  const computed = isFragmented
    ? await findInTail(file, end, fragment)
    : await readTracks(file, (input) => input.computeDuration());
  return computed || seconds;
}

/** What fragments begin with: bytes at an offset, and a test that rules out those that are there by chance. */
type Start = {
  marker: Buffer;
  offset: number;
  isStart(bytes: Buffer, at: number): boolean;
  /** Returns what stands for bytes that are left out: the header of a box or element that players skip. */
  skip(length: number): Buffer;
};

/** A `moof` box. Its first child is always `mfhd`, which has 16 bytes. */
const fragment: Start = {
  marker: Buffer.from('moof'),
  offset: 4,
  isStart: (bytes, at) => textAt(bytes, at + 12) === 'mfhd',
  // A `free` box, with a size of 8 bytes, of which the 1 says so.
  skip: (length) => headerOf('0000000166726565', length),
};

/** A Cluster: its ID, a size of 1 to 8 bytes, and the ID of its first child, Timestamp. */
const cluster: Start = {
  marker: Buffer.from([0x1f, 0x43, 0xb6, 0x75]),
  offset: 0,
  isStart: (bytes, at) => bytes[at + 4 + Math.clz32(bytes[at + 4] ?? 0) - 23] === 0xe7,
  // Void, with a size of 8 bytes, of which the first one says so.
  skip: (length) => headerOf('ec', length - 9, 1n << 56n),
};

/** The beginning of a header, and a length of 64 bits. */
function headerOf(hex: string, length: number, marker = 0n): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(marker | BigInt(Math.max(0, length)));
  return Buffer.concat([Buffer.from(hex, 'hex'), size]);
}

function textAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

async function readWebm(file: RangedFile): Promise<number | null> {
  const named = await readTracks(file, (input) => input.getDurationFromMetadata());
  if (named !== null) return named;
  const head = await file.read(0, Math.min(file.size, HEAD_BYTES));
  const firstCluster = findFirst(head, cluster);
  return firstCluster === null ? null : findInTail(file, firstCluster, cluster);
}

/**
 * Reads a file that consists of the beginning up to `headEnd`, and of the fragments in the last bytes, at the positions
 * where they are. Returns null if the last bytes contain no beginning of a fragment.
 */
async function findInTail(file: RangedFile, headEnd: number, start: Start): Promise<number | null> {
  const head = withoutSamples(await file.read(0, headEnd));
  for (const length of TAIL_BYTES) {
    const from = Math.max(headEnd, file.size - length);
    const tail = await file.read(from, file.size);
    const found = findFirst(tail, start);
    const skipped = from + (found ?? 0) - headEnd;
    if (found !== null && (skipped === 0 || skipped >= MIN_SKIPPED_BYTES)) {
      const parts = [
        { at: 0, bytes: head },
        ...(skipped > 0 ? [{ at: headEnd, bytes: start.skip(skipped) }] : []),
        { at: from + found, bytes: tail.subarray(found, withoutIndex(tail)) },
      ];
      const seconds = await readTracks(toFile(parts), findEnd);
      if (seconds) return seconds;
    }
    if (from === headEnd) return null;
  }
  return null;
}

/**
 * Returns when the last packet ends whose bytes are there. A recording whose browser was killed may end within a
 * fragment, and the header of that fragment still names all of its packets.
 */
async function findEnd(input: Input): Promise<number> {
  let end = 0;
  for (const track of await input.getTracks())
    for await (const { timestamp, duration } of new EncodedPacketSink(track).packets())
      end = Math.max(end, timestamp + duration);
  return end;
}

/**
 * Empties the tables of samples (`stsz` and `stts`) of a movie that has samples and fragments. The reader does not look
 * at the fragments of such a movie.
 */
function withoutSamples(head: Uint8Array): Uint8Array {
  const emptied = Buffer.from(head);
  clearCounts(emptied, 'stsz', 12);
  clearCounts(emptied, 'stts', 8);
  return emptied;
}

/** Sets the counts of all tables of a type to 0. `countAt` is where the count is, from the type of the box. */
function clearCounts(bytes: Buffer, type: string, countAt: number): void {
  const last = bytes.length - countAt - 4;
  for (let at = bytes.indexOf(type); at !== -1 && at <= last; at = bytes.indexOf(type, at + 4))
    bytes.writeUInt32BE(0, at + countAt);
}

function findFirst(bytes: Uint8Array, { marker, offset, isStart }: Start): number | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let found = buffer.indexOf(marker); found !== -1; found = buffer.indexOf(marker, found + 1))
    if (found >= offset && isStart(buffer, found - offset)) return found - offset;
  return null;
}

/** The length without `mfra`, an index whose offsets are those of the whole file. It ends with its size. */
function withoutIndex(tail: Uint8Array): number {
  if (tail.length < 16 || textAt(tail, tail.length - 12) !== 'mfro') return tail.length;
  const size = new DataView(tail.buffer, tail.byteOffset + tail.length - 4).getUint32(0);
  return Math.max(0, tail.length - size);
}

async function readTracks(file: RangedFile, read: (input: Input) => Promise<number | null>): Promise<number | null> {
  using input = openInput(file);
  return (await input.canRead()) ? await read(input) : null;
}

/** A file of which only some parts are known. The bytes between them are 0. */
function toFile(parts: readonly { at: number; bytes: Uint8Array }[]): RangedFile {
  const size = Math.max(...parts.map(({ at, bytes }) => at + bytes.length));
  const read = async (start: number, end: number): Promise<Uint8Array> => {
    const read = Buffer.alloc(end - start);
    for (const { at, bytes } of parts) {
      const [from, until] = [Math.max(start, at), Math.min(end, at + bytes.length)];
      if (from < until) read.set(bytes.subarray(from - at, until - at), from - start);
    }
    return read;
  };
  return { size, read };
}
