/**
 * Reads the duration of an MP4 from its bytes while they stream to the store.
 *
 * Section numbers refer to ISO/IEC 14496-12:2015 (ISO base media file format). A file is a sequence of boxes. Only the
 * movie box `moov` and, inside it, `mvhd` and `mvex/mehd` are read. All others are skipped.
 */

/**
 * The next bytes that the parser needs, by their offset in the file. Each read begins at or after the end of the
 * previous one.
 */
type Read = { from: number; length: number };

/** A generator that yields each read that it needs, and is resumed with the bytes of that read. */
type Walk<Result> = Generator<Read, Result, Buffer>;

/** A box. `body` is the offset in the file of the first byte of its body, `end` that of the first byte after it. */
type Box = { type: string; body: number; end: number };

/**
 * The durations in the headers of the movie, in units of 1 / `timescale` seconds; null if missing or marked as unknown.
 */
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

/** 68 years. A longer duration means that the file is damaged or forged. */
const MAX_SECONDS = 2 ** 31 - 1;

/**
 * Real files have tens of boxes before `moov` ends. Without a limit, 100 MB of empty boxes would take seconds of CPU
 * time.
 */
const MAX_READS = 100_000;

export type Mp4DurationReader = {
  /** Reads the next bytes of the file. Does not keep a reference to `chunk`. */
  push(chunk: Buffer): void;
  /** The duration, rounded to whole seconds; null if the bytes so far do not contain it. */
  duration(): number | null;
};

/**
 * Creates a reader for one file. Push all bytes of the file in order, in chunks of any size.
 *
 * The reader never throws, and holds at most 32 bytes. The cost of a chunk depends on the boxes that begin in it, not
 * on its length. The result does not depend on how the file is split into chunks, or on whether `moov` is before or
 * after `mdat`.
 *
 * The duration is that of `mvhd` (8.2.2). In a fragmented movie (one with `mvex`) it is that of `mehd` (8.8.2), because
 * its `mvhd` has 0 or the duration of the first fragment only. In a plain movie, 0 in `mvhd` means 0 seconds. The
 * duration is null if there is no readable `moov/mvhd`, if the timescale is 0, or if the duration is all ones (8.2.2:
 * cannot be determined) or longer than 2^31-1 seconds. Reading stops at damaged data, but a nonzero duration that was
 * read before is still returned.
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
  const buffer = Buffer.alloc(MAX_READ_BYTES);
  let buffered = 0;
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
        const start = wanted.from + buffered - received;
        if (start >= chunk.length) break;
        buffered += chunk.copy(buffer, buffered, start, start + wanted.length - buffered);
        if (buffered < wanted.length) break;
        buffered = 0;
        wanted = advance(buffer.subarray(0, wanted.length));
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
 * Reads the header of the box at `at` (4.2). Returns null if there is no valid box: the header or the size does not fit
 * before `limit`, or the size is less than the header. A size of 0 means "to the end of the file", so inside another
 * box it is invalid.
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
    // Beyond 2^53 the conversion is inexact, but such an offset is after the end of every file.
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
 * 8.2.2: version (1 byte), flags (3), creation and modification time, timescale (4), duration. The times and the
 * duration have 4 bytes in version 0 and 8 in version 1. Other versions are not defined.
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

/** Reads the first `length` bytes of the body, or the whole of a shorter one. */
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
  // In `mehd`, muxers write 0 for an unknown duration. In `mvhd`, 0 is valid only after the whole of `moov` has been
  // read: until then, an `mvex` box may follow.
  if (units === 0 && (movie.isFragmented || !movie.isComplete)) return null;
  const seconds = Math.round(units / movie.timescale);
  return seconds <= MAX_SECONDS ? seconds : null;
}
