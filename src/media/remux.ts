/** Turns a recording into one seekable MP4 or WebM: packets are copied, nothing is encoded again. */
import {
  Conversion,
  type Input,
  Mp4OutputFormat,
  Output,
  type OutputFormat,
  StreamTarget,
  type StreamTargetChunk,
  WebMOutputFormat,
} from 'mediabunny';
import { computeDuration } from './compute-duration.ts';
import type { MediaResult } from './media-task.ts';
import { openInput } from './open-input.ts';
import { createBoundedFile, type RangedFile } from './range-reader.ts';

/** What players expect in an MP4. VP8 and Vorbis can be stored in one, but few players support that. */
const mp4Codecs: ReadonlySet<string> = new Set(['avc', 'hevc', 'vp9', 'av1', 'aac', 'opus', 'mp3']);
const webmCodecs: ReadonlySet<string> = new Set(['vp8', 'vp9', 'av1', 'vorbis', 'opus']);

/** More than the header of a fragment of many seconds. */
const MAX_HEADER_BYTES = 64 * 1024;

/** The duration is rounded to whole seconds, and tracks may end at different times. */
const MAX_DIFFERENCE_SECONDS = 1;

/** Writes the next bytes. The buffer of the array moves to the receiver. */
type Write = (bytes: Uint8Array<ArrayBuffer>) => Promise<unknown>;

/** Bytes of the output that are written again, when what comes after them is known. */
type Correction = { position: number; data: Uint8Array };

/**
 * Writes an MP4 with the packets of the file from its beginning to its end, without a second look at what was written.
 * The index is at its end. Writes a WebM instead if the tracks are ones that players only expect there. Does not write
 * anything if the file is seekable already, or has other tracks.
 *
 * The file is read twice. The first time finds out what is only known later, but stands before: how long the media data
 * or each part of it is, and where the index begins.
 */
export async function remux(whole: RangedFile, write: Write): Promise<MediaResult> {
  const file = await withoutCutHeader(whole);
  const { isSeekable, duration } = await computeDuration(createBoundedFile(file.size, new Uint8Array(), file.read));
  const unchanged = { duration, isSeekable, isRemuxed: false };
  // Of a movie that has both samples and fragments, the library reads only the samples.
  if (isSeekable || !(await isReadToTheEnd(file, duration))) return unchanged;
  const corrections: Correction[] = [];
  let size = 0;
  const isPossible = await convert(file, async ({ position, data }) => {
    if (position < size) corrections.push({ position, data: Uint8Array.from(data) });
    size = Math.max(size, position + data.length);
  });
  if (!isPossible) return unchanged;
  const correct = createCorrector(corrections);
  let written = 0;
  await convert(file, async ({ position, data }) => {
    if (position < written) return;
    if (position > written) throw new Error('The output has a gap');
    written += data.length;
    await write(correct(data, position));
  });
  if (written !== size) throw new Error('The second output differs from the first');
  return { duration, isSeekable: true, isRemuxed: true };
}

/**
 * Leaves out the last fragment of an MP4 if its header is cut off, because the library refuses the whole file then. A
 * header begins with `moof` and another header, `mfhd`, each after its length in four bytes.
 */
async function withoutCutHeader(file: RangedFile): Promise<RangedFile> {
  const start = Math.max(0, file.size - MAX_HEADER_BYTES);
  const tail = Buffer.from(await file.read(start, file.size));
  const at = tail.lastIndexOf('moof') - 4;
  if (at < 0 || at + tail.readUInt32BE(at) <= tail.length) return file;
  const next = tail.toString('latin1', at + 12, at + 16);
  return 'mfhd'.startsWith(next) ? { ...file, size: start + at } : file;
}

/** Writes the packets of a file into an MP4 or a WebM. Returns false if not all tracks can be copied. */
async function convert(file: RangedFile, write: (chunk: StreamTargetChunk) => Promise<void>): Promise<boolean> {
  using input = openInput(file);
  const format = await chooseFormat(input);
  if (format === null) return false;
  const target = new StreamTarget(new WritableStream({ write }), { chunked: false });
  const output = new Output({ format, target });
  const conversion = await Conversion.init({ input, output, showWarnings: false });
  if (!conversion.isValid || conversion.discardedTracks.length > 0) return false;
  await conversion.execute();
  return true;
}

async function chooseFormat(input: Input): Promise<OutputFormat | null> {
  if (!(await input.canRead())) return null;
  const codecs = (await input.getTracks()).map(({ codec }) => codec);
  const areIn = (known: ReadonlySet<string>): boolean =>
    codecs.length > 0 && codecs.every((codec) => codec !== null && known.has(codec));
  if (areIn(mp4Codecs)) return new Mp4OutputFormat({ fastStart: false });
  return areIn(webmCodecs) ? new WebMOutputFormat() : null;
}

/** Returns a function that applies the corrections to chunks of the output, which it gets in their order. */
function createCorrector(corrections: readonly Correction[]) {
  // Later corrections of the same bytes stay behind earlier ones.
  const sorted = corrections.toSorted((a, b) => a.position - b.position);
  const endOf = (correction: Correction | undefined): number =>
    correction === undefined ? Number.POSITIVE_INFINITY : correction.position + correction.data.length;
  let next = 0;
  return (data: Uint8Array, position: number): Uint8Array<ArrayBuffer> => {
    const end = position + data.length;
    const corrected = Uint8Array.from(data);
    while (endOf(sorted[next]) <= position) next += 1;
    for (let index = next; index < sorted.length; index += 1) {
      const { position: at, data: bytes } = sorted[index] as Correction; // The index is below the length.
      if (at >= end) break;
      const from = Math.max(at, position);
      const until = Math.min(at + bytes.length, end);
      if (from < until) corrected.set(bytes.subarray(from - at, until - at), from - position);
    }
    return corrected;
  };
}

/** The library may find more than there is: the header of the last fragment names packets that were cut off. */
async function isReadToTheEnd(file: RangedFile, duration: number | null): Promise<boolean> {
  using input = openInput(file);
  return duration !== null && (await input.computeDuration()) >= duration - MAX_DIFFERENCE_SECONDS;
}
