/** Turns a recording into one seekable MP4: packets are copied, nothing is encoded again. */
import { Conversion, type Input, Mp4OutputFormat, Output, StreamTarget, type StreamTargetChunk } from 'mediabunny';
import { computeDuration } from './compute-duration.ts';
import type { MediaResult } from './media-task.ts';
import { openInput } from './open-input.ts';
import { createBoundedFile, type RangedFile } from './range-reader.ts';

/** What players expect in an MP4. VP8 and Vorbis can be stored in one, but few players support that. */
const playableCodecs = new Set(['avc', 'hevc', 'vp9', 'av1', 'aac', 'opus', 'mp3']);

/** The duration is rounded to whole seconds, and tracks may end at different times. */
const MAX_DIFFERENCE_SECONDS = 1;

/** Writes the next bytes. The buffer of the array moves to the receiver. */
type Write = (bytes: Uint8Array<ArrayBuffer>) => Promise<unknown>;

/** Bytes of the output that are written again, when what comes after them is known. */
type Correction = { position: number; data: Uint8Array };

/**
 * Writes an MP4 with the packets of the file from its beginning to its end, without a second look at what was written.
 * The index is at its end. Does not write anything if the file is seekable already, or has tracks that players do not
 * expect in an MP4.
 *
 * The file is read twice. The first time finds out how long the media data is, which its beginning must say.
 */
export async function remux(file: RangedFile, write: Write): Promise<MediaResult> {
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
  let written = 0;
  await convert(file, async ({ position, data }) => {
    if (position < written) return;
    if (position > written) throw new Error('The output has a gap');
    written += data.length;
    await write(applyCorrections(data, position, corrections));
  });
  if (written !== size) throw new Error('The second output differs from the first');
  return { duration, isSeekable: true, isRemuxed: true };
}

/** Writes the packets of a file into an MP4. Returns false if not all tracks can be copied. */
async function convert(file: RangedFile, write: (chunk: StreamTargetChunk) => Promise<void>): Promise<boolean> {
  using input = openInput(file);
  if (!(await isPlayable(input))) return false;
  const target = new StreamTarget(new WritableStream({ write }), { chunked: false });
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: false }), target });
  const conversion = await Conversion.init({ input, output, showWarnings: false });
  if (!conversion.isValid || conversion.discardedTracks.length > 0) return false;
  await conversion.execute();
  return true;
}

async function isPlayable(input: Input): Promise<boolean> {
  if (!(await input.canRead())) return false;
  const tracks = await input.getTracks();
  return tracks.length > 0 && tracks.every(({ codec }) => codec !== null && playableCodecs.has(codec));
}

function applyCorrections(
  data: Uint8Array,
  position: number,
  corrections: readonly Correction[],
): Uint8Array<ArrayBuffer> {
  const end = position + data.length;
  const corrected = Uint8Array.from(data);
  for (const { position: at, data: bytes } of corrections) {
    const from = Math.max(at, position);
    const until = Math.min(at + bytes.length, end);
    if (from < until) corrected.set(bytes.subarray(from - at, until - at), from - position);
  }
  return corrected;
}

async function isReadToTheEnd(file: RangedFile, duration: number | null): Promise<boolean> {
  using input = openInput(file);
  return duration !== null && Math.abs((await input.computeDuration()) - duration) <= MAX_DIFFERENCE_SECONDS;
}
