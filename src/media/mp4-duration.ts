/**
 * How long an MP4 plays, read from its bytes while they stream by on their way to the store.
 *
 * Section numbers are those of ISO/IEC 14496-12:2015 (ISO base media file format). A file is a sequence of boxes; only
 * the movie box `moov` and, in it, `mvhd` and `mvex/mehd` are looked at. All the rest is passed over unread.
 */

/** The next bytes that the walk needs, by their offset in the file. Each read begins at or after the end of the last. */
type Read = { from: number; length: number };

/** Yields the reads that it needs, is resumed with the bytes of each, and never sees any other. */
type Walk<Result> = Generator<Read, Result, Buffer>;

/** A box by the offsets in the file of its body's first byte and of the first byte after it. */
type Box = { type: string; body: number; end: number };

/** What the movie says of its length, in units of `timescale` per second. null: not stated, or stated as unknown. */
type Movie = {
  timescale: number;
  duration: number | null;
  fragmentedDuration: number | null;
  isFragmented: boolean;
  isComplete: boolean;
};

const BOX_HEADER_BYTES = 8;
const LARGE_SIZE_BYTES = 8;
const MVHD_BYTES = 32;
const MEHD_BYTES = 12;
const MAX_READ_BYTES = MVHD_BYTES;

/** A longer time than this, 68 years, is a damaged or forged number. */
const MAX_SECONDS = 2 ** 31 - 1;

/**
 * Real files have tens of boxes before `moov` ends. Without a limit, 100 MB of empty boxes would cost seconds of
 * computing instead of milliseconds.
 */
const MAX_READS = 100_000;

export type Mp4DurationReader = {
  /** Takes the next bytes of the file. Keeps no reference to `chunk`. */
  push(chunk: Buffer): void;
  /** Whole seconds, rounded; null where the bytes so far do not tell. */
  duration(): number | null;
};

/**
 * A reader for one file, to be given all its bytes in order, in chunks of any size.
 *
 * Guarantees: no bytes make it throw; it holds 32 bytes at most; a chunk costs the boxes that begin in it, not its
 * length; the result does not depend on where the chunks are cut, nor on whether `moov` lies before or after `mdat`.
 *
 * The duration is that of `mvhd` (8.2.2). A fragmented movie (one with `mvex`) has only that of `mehd` (8.8.2): its
 * `mvhd` counts nothing, or only the first fragment. So a `mvhd` of 0 is an answer in a plain movie, and nothing in a
 * fragmented one. null also where there is no readable `moov/mvhd`, the timescale is 0, the duration is all ones
 * (8.2.2: cannot be determined) or longer than 2^31-1 seconds.
 * Damage ends the reading; a duration other than 0 that was read before it stands.
 */
export function createMp4DurationReader(): Mp4DurationReader {
  const movie: Movie = {
    timescale: 0,
    duration: null,
    fragmentedDuration: null,
    isFragmented: false,
    isComplete: false,
  };
  const walk = walkFile(movie);
  const gathered = Buffer.alloc(MAX_READ_BYTES);
  let held = 0;
  let received = 0;
  let reads = 0;
  let wanted = advance();

  function advance(...bytes: [] | [Buffer]): Read | null {
    const step = walk.next(...bytes);
    reads += 1;
    return step.done || reads > MAX_READS ? null : step.value;
  }

  return {
    push(chunk) {
      while (wanted !== null) {
        const start = wanted.from + held - received;
        if (start >= chunk.length) break;
        held += chunk.copy(gathered, held, start, start + wanted.length - held);
        if (held < wanted.length) break;
        held = 0;
        wanted = advance(gathered.subarray(0, wanted.length));
      }
      received += chunk.length;
    },
    duration: () => toWholeSeconds(movie),
  };
}

function* walkFile(movie: Movie): Walk<void> {
  let at = 0;
  while (true) {
    const box = yield* readHeader(at, Number.POSITIVE_INFINITY);
    if (box === null) return;
    if (box.type === 'moov') return yield* walkMovie(box, movie);
    at = box.end;
  }
}

/**
 * The box that begins at `at` (4.2), or null where none can: its header or its claimed size does not fit before
 * `limit`, or the size is less than the header. A size of 0 means "to the end of the file", so it is damage in a box
 * that ends before that.
 */
function* readHeader(at: number, limit: number): Walk<Box | null> {
  let body = at + BOX_HEADER_BYTES;
  if (body > limit) return null;
  const header = yield { from: at, length: BOX_HEADER_BYTES };
  const type = header.toString('latin1', 4, 8);
  let size = header.readUInt32BE(0);
  if (size === 0) return limit === Number.POSITIVE_INFINITY ? { type, body, end: limit } : null;
  if (size === 1) {
    const largeSize = body;
    body += LARGE_SIZE_BYTES;
    if (body > limit) return null;
    // Beyond 2^53 the conversion is inexact; no file reaches there, so the offset is only ever "further than the end".
    size = Number((yield { from: largeSize, length: LARGE_SIZE_BYTES }).readBigUInt64BE(0));
  }
  const end = at + size;
  return end < body || end > limit ? null : { type, body, end };
}

function* walkMovie(moov: Box, movie: Movie): Walk<void> {
  let at = moov.body;
  while (at < moov.end) {
    const box = yield* readHeader(at, moov.end);
    if (box === null) return;
    if (box.type === 'mvhd') yield* readMovieHeader(box, movie);
    if (box.type === 'mvex') {
      movie.isFragmented = true;
      yield* walkMovieExtends(box, movie);
    }
    at = box.end;
  }
  movie.isComplete = true;
}

/**
 * 8.2.2: version (1 byte), flags (3), creation and modification time, timescale (4), duration.
 * The times and the duration have 4 bytes in version 0 and 8 in version 1; other versions are not defined.
 */
function* readMovieHeader(box: Box, movie: Movie): Walk<void> {
  const fields = yield* readStart(box, MVHD_BYTES);
  const version = fields[0];
  if (version === 0 && fields.length >= 20) {
    movie.timescale = fields.readUInt32BE(12);
    movie.duration = readShortDuration(fields, 16);
  }
  if (version === 1 && fields.length >= 32) {
    movie.timescale = fields.readUInt32BE(20);
    movie.duration = readLongDuration(fields, 24);
  }
}

/** The first `length` bytes of the body, or all of a shorter one. */
function* readStart(box: Box, length: number): Walk<Buffer> {
  return yield { from: box.body, length: Math.min(length, box.end - box.body) };
}

function readShortDuration(fields: Buffer, offset: number): number | null {
  const duration = fields.readUInt32BE(offset);
  return duration === 0xffff_ffff ? null : duration;
}

function readLongDuration(fields: Buffer, offset: number): number | null {
  const duration = fields.readBigUInt64BE(offset);
  return duration === 0xffff_ffff_ffff_ffffn ? null : Number(duration);
}

function* walkMovieExtends(mvex: Box, movie: Movie): Walk<void> {
  let at = mvex.body;
  while (at < mvex.end) {
    const box = yield* readHeader(at, mvex.end);
    if (box === null) return;
    if (box.type === 'mehd') return yield* readMovieExtendsHeader(box, movie);
    at = box.end;
  }
}

/** 8.8.2: version (1 byte), flags (3), fragment_duration of 4 bytes in version 0 and 8 in version 1. */
function* readMovieExtendsHeader(box: Box, movie: Movie): Walk<void> {
  const fields = yield* readStart(box, MEHD_BYTES);
  const version = fields[0];
  if (version === 0 && fields.length >= 8) movie.fragmentedDuration = readShortDuration(fields, 4);
  if (version === 1 && fields.length >= 12) movie.fragmentedDuration = readLongDuration(fields, 4);
}

function toWholeSeconds(movie: Movie): number | null {
  const units = movie.isFragmented ? movie.fragmentedDuration : movie.duration;
  if (units === null || movie.timescale === 0) return null;
  // In `mehd` a 0 is what muxers write that do not know the length. In `mvhd` it counts once the whole `moov` has been
  // seen: until then, a `mvex` that makes it meaningless may still come.
  if (units === 0 && (movie.isFragmented || !movie.isComplete)) return null;
  const seconds = Math.round(units / movie.timescale);
  return seconds <= MAX_SECONDS ? seconds : null;
}
