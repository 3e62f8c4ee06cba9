/** The beginning of a CSV file, which tells how to read the rest of it. */
import { TextDecoder } from 'node:util';
import { type AppError, badField } from '../../core/errors.ts';

export const MAX_RECORD_BYTES = 1024 * 1024;
/** Empty fields add no bytes to a record, so MAX_RECORD_BYTES alone does not limit the number of columns. */
export const MAX_COLUMNS = 1000;

const UTF8_MARK = Buffer.from('\ufeff');
const UTF16_MARKS = [
  { encoding: 'utf-16le', mark: Buffer.from([0xff, 0xfe]) },
  { encoding: 'utf-16be', mark: Buffer.from([0xfe, 0xff]) },
];
/** In the order of preference if the header row has none, or as many of one as of another. */
const DELIMITERS = [',', ';', '\t'] as const;
/** The line in which a file names its delimiter for Excel. */
const DELIMITER_LINE = /^"?sep=([,;\t|])"?$/i;
/** One character more than the longest such line, so that no longer line matches. */
const MAX_DELIMITER_LINE = '"sep=;"'.length + 1;
const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export type CsvHead = {
  /** All bytes read so far. */
  head: Buffer;
  delimiter: string;
  /** Whether the first row names the delimiter, so that the second one is the header row. */
  namesDelimiter: boolean;
};

/** Removes the byte order mark, and converts UTF-16. Throws 400 if it is invalid. Returning early closes the source. */
export async function* toUtf8(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let start: Buffer | null = Buffer.alloc(0);
  let decoder: TextDecoder | undefined;
  for await (const chunk of source) {
    if (start === null) {
      yield decoder === undefined ? chunk : decode(decoder, chunk);
      continue;
    }
    start = Buffer.concat([start, chunk]);
    if (start.length < UTF8_MARK.length) continue;
    decoder = findDecoder(start);
    yield decoder === undefined ? withoutMark(start) : decode(decoder, start);
    start = null;
  }
  if (start !== null) yield start;
  if (decoder !== undefined) yield decode(decoder);
}

function findDecoder(start: Buffer): TextDecoder | undefined {
  const found = UTF16_MARKS.find(({ mark }) => start.indexOf(mark) === 0);
  return found && new TextDecoder(found.encoding, { fatal: true });
}

function withoutMark(start: Buffer): Buffer {
  return start.indexOf(UTF8_MARK) === 0 ? start.subarray(UTF8_MARK.length) : start;
}

/** Without `chunk`, the file has ended. */
function decode(decoder: TextDecoder, chunk?: Buffer): Buffer {
  try {
    return Buffer.from(chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true }));
  } catch (error) {
    throw invalidCsv('CSV must be UTF-8 or UTF-16', error);
  }
}

/**
 * Reads until the end of the first row. The delimiter is the one that the row names, or else the one that occurs most
 * often in it outside quotes.
 */
export async function readHead(chunks: AsyncIterator<Buffer>): Promise<CsvHead> {
  const read: Buffer[] = [];
  const counts = new Uint32Array(256);
  let [length, start] = [0, ''];
  let isQuoted = false;
  const toHead = (): CsvHead => {
    const [, named] = DELIMITER_LINE.exec(start) ?? [];
    return {
      head: Buffer.concat(read),
      delimiter: named ?? findDelimiter(counts),
      namesDelimiter: named !== undefined,
    };
  };
  for (;;) {
    const { done, value } = await chunks.next();
    if (done) return toHead();
    read.push(value);
    length += value.length;
    for (const byte of value) {
      const isLineEnd = byte === LINE_FEED || byte === CARRIAGE_RETURN;
      if (isLineEnd && !isQuoted && start !== '') return toHead();
      if (byte === QUOTE) isQuoted = !isQuoted;
      if (!isQuoted) counts[byte] = (counts[byte] ?? 0) + 1;
      if (!isLineEnd && start.length < MAX_DELIMITER_LINE) start += String.fromCharCode(byte);
    }
    if (length > MAX_RECORD_BYTES) throw tooLong(1);
  }
}

function findDelimiter(counts: Uint32Array): string {
  const count = (delimiter: string): number => counts[delimiter.charCodeAt(0)] ?? 0;
  return DELIMITERS.reduce<string>((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best), ',');
}

export function tooLong(line: number, cause?: unknown): AppError {
  return invalidCsv(`Line ${line}: a record must have at most 1 MiB and ${MAX_COLUMNS} columns`, cause);
}

/** Returns a 400 for the body as a whole. */
export function invalidCsv(message: string, cause?: unknown): AppError {
  return badField('', message, cause);
}
