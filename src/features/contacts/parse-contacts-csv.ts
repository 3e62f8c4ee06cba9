/** Contacts as CSV (RFC 4180), in, one record at a time. */
import { pipeline, Readable } from 'node:stream';
import { setImmediate as giveWay } from 'node:timers/promises';
import { CsvError, type Parser, parse } from 'csv-parse';
import { z } from 'zod';
import { type AppError, badField } from '../../core/errors.ts';
import { email, MAX_EMAIL_LENGTH, MAX_NAME_LENGTH, singleLineText } from '../../core/validation.ts';
import { unescapeFormula } from './escape-formulas.ts';

/** What a record gives. `line` is the line of the file in which the record begins; the first one is 1. */
export type ParsedRow = { line: number; name: string; email: string } | { line: number; problem: string };

const MAX_RECORD_BYTES = 1024 * 1024;
/** An empty field has no bytes that count towards the record, and would otherwise be free. */
const MAX_COLUMNS = 1000;
/** All records of a piece are held at once, and found in one turn of the event loop: some milliseconds. */
const PIECE_BYTES = 16 * 1024;

const COMMA = 0x2c;
const SEMICOLON = 0x3b;
const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** In any mix of upper and lower case. */
const NAME_COLUMNS = ['name', 'full name'];
const EMAIL_COLUMNS = ['email', 'e-mail'];

/** An address is the same here as for an account: a contact who registers is recognised by it. */
const Person = z.object({ name: singleLineText(MAX_NAME_LENGTH), email });

const utf8 = new TextDecoder('utf-8', { fatal: true });

type Delimiter = ',' | ';';

/** The fields, each character of which is one byte of the file, and the line in which they begin. */
type CsvRecord = string[] & { line: number };

/** Where a record has what. There may be no column of names: -1. */
type Columns = { name: number; email: number };

/**
 * Reads the contacts of a CSV file: UTF-8 with or without a byte order mark, separated by commas or by semicolons, whose
 * first row names the columns in any order: `email` or `E-mail`, and if it is there `name` or `Full name`; of two such
 * columns the first one counts, and others are ignored. Names are trimmed, of at most 100 characters; without one, the
 * part of the address before the @ stands for it. Addresses are checked and lower-cased like those of accounts. One
 * address may come several times. Rows without any text are passed over.
 *
 * A row that is no contact gives its problem and the file is read on. Throws 400, which names the whole body, for a file without a column
 * of addresses or with a header that is not UTF-8, a record of more than 1 MiB or 1000 columns, and a quote that is
 * never closed; some rows before that may have been given and others not. What the source throws comes through as it
 * is. Holds a chunk of the source and the records of 16 KiB at a time, and lets the event loop turn before the next
 * ones; stopping early lets go of the source.
 */
export async function* parseContactsCsv(source: AsyncIterable<Buffer>): AsyncGenerator<ParsedRow, void, undefined> {
  const chunks = source[Symbol.asyncIterator]();
  const { head, delimiter } = await readHead(chunks).catch(async (error) => {
    await chunks.return?.();
    throw error;
  });
  let columns: Columns | undefined;
  for await (const record of readRecords(inPieces(head, chunks), delimiter)) {
    if (columns === undefined) columns = findColumns(record);
    else yield parseRow(record, columns);
  }
  if (columns === undefined) throw noEmailColumn();
}

/**
 * Reads ahead until the header row is there: the bytes so far, without a byte order mark, and what separates the columns:
 * the more frequent of comma and semicolon outside of quotes in that row.
 */
async function readHead(chunks: AsyncIterator<Buffer>): Promise<{ head: Buffer; delimiter: Delimiter }> {
  const read: Buffer[] = [];
  const answer = (): { head: Buffer; delimiter: Delimiter } => {
    const bytes = Buffer.concat(read);
    const head = bytes.indexOf(BYTE_ORDER_MARK) === 0 ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
    return { head, delimiter: semicolons > commas ? ';' : ',' };
  };
  let [length, commas, semicolons] = [0, 0, 0];
  let isQuoted = false;
  let hasBegun = false;
  for (;;) {
    const { done, value } = await chunks.next();
    if (done) return answer();
    read.push(value);
    length += value.length;
    for (const byte of value) {
      const isLineEnd = byte === LINE_FEED || byte === CARRIAGE_RETURN;
      if (isLineEnd && !isQuoted && hasBegun) return answer();
      if (!isLineEnd) hasBegun = true;
      if (byte === QUOTE) isQuoted = !isQuoted;
      if (byte === COMMA && !isQuoted) commas += 1;
      if (byte === SEMICOLON && !isQuoted) semicolons += 1;
    }
    if (length > MAX_RECORD_BYTES) throw tooLong(1);
  }
}

function tooLong(line: number, cause?: unknown): AppError {
  return unreadable(`Line ${line}: a record must have at most 1 MiB and ${MAX_COLUMNS} columns`, cause);
}

/** The file cannot be read on: a 400 that says why, of the body as a whole. */
function unreadable(message: string, cause?: unknown): AppError {
  return badField('', message, cause);
}

/** The records of a file that have any text, each with the line in which it begins. Throws 400. */
async function* readRecords(pieces: AsyncIterable<Buffer>, delimiter: Delimiter): AsyncGenerator<CsvRecord> {
  // Of the record that is being read, but for empty lines. The parser's own count takes a CRLF within quotes for two.
  let fullLine = 1;
  const lineNow = (): number => fullLine + parser.info.empty_lines;
  const parser: Parser = parse({
    delimiter,
    // A file may mix them, as after an edit elsewhere; left to itself the parser expects the first one everywhere.
    record_delimiter: ['\r\n', '\n', '\r'],
    // As UTF-8 the parser would silently replace bytes that are none.
    encoding: 'latin1',
    // Here they cost next to nothing; as records, ten million of them would take seconds.
    skip_empty_lines: true,
    relax_quotes: true,
    relax_column_count: true,
    max_record_size: MAX_RECORD_BYTES,
    cast: (field, { index }) => {
      if (index >= MAX_COLUMNS) throw tooLong(lineNow());
      return field;
    },
    on_record: (fields: string[]): CsvRecord | null => {
      const line = lineNow();
      fullLine += countLines(fields);
      // Each record is the first one to the parser: for any of another length than the first it would build an error,
      // with a stack, though it then ignores it. A file of uneven rows would take twenty times as long.
      Object.assign(parser.info, { records: 0 });
      return fields.every(isBlank) ? null : Object.assign(fields, { line });
    },
  });
  try {
    // Its callback has nothing to do: the iteration throws what it would be told.
    yield* pipeline(Readable.from(pieces), parser, () => {});
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    if (error.code === 'CSV_QUOTE_NOT_CLOSED') {
      throw unreadable(`Line ${lineNow()}: a quote is opened and never closed`, error);
    }
    const line = lineNow();
    throw error.code === 'CSV_MAX_RECORD_SIZE' ? tooLong(line, error) : unreadable(`Line ${line}: not CSV`, error);
  }
}

/** Line breaks stand within a field only where it is quoted. */
function countLines(fields: readonly string[]): number {
  return fields.reduce((lines, field) => lines + (field.match(/\r\n|\r|\n/g)?.length ?? 0), 1);
}

function isBlank(field: string): boolean {
  return /^[ \t]*$/.test(field);
}

/**
 * The bytes that were read ahead and the rest of the file, in pieces, each in a turn of its own of the event loop: bytes
 * that are there already would otherwise be read to their end before anybody else has one. Lets go of the file however
 * it ends.
 */
async function* inPieces(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    let chunk: Buffer | undefined = head;
    while (chunk !== undefined) {
      for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
        await giveWay();
        yield chunk.subarray(start, start + PIECE_BYTES);
      }
      const next: IteratorResult<Buffer> = await rest.next();
      chunk = next.done ? undefined : next.value;
    }
  } finally {
    await rest.return?.();
  }
}

function findColumns(header: readonly string[]): Columns {
  const titles = header.map((field) => {
    const title = decode(field);
    if (title === null) throw unreadable('CSV must be UTF-8');
    return title.trim().toLowerCase();
  });
  const email = titles.findIndex((title) => EMAIL_COLUMNS.includes(title));
  if (email === -1) throw noEmailColumn();
  return { name: titles.findIndex((title) => NAME_COLUMNS.includes(title)), email };
}

/** The text of a field; null for bytes that are not UTF-8. */
function decode(field: string): string | null {
  try {
    return utf8.decode(Buffer.from(field, 'latin1'));
  } catch {
    return null;
  }
}

function noEmailColumn(): AppError {
  return unreadable('CSV must have a column named email');
}

function parseRow(record: CsvRecord, columns: Columns): ParsedRow {
  const { line } = record;
  const name = decode(record[columns.name] ?? '');
  if (name === null) return { line, problem: 'name must be UTF-8' };
  const email = decode(record[columns.email] ?? '');
  if (email === null) return { line, problem: 'email must be UTF-8' };
  if (isNoEmail(email)) return { line, problem: 'email must be a valid email address' };
  const { error, data } = Person.safeParse({ name: unescapeFormula(name), email: unescapeFormula(email) });
  if (error) return { line, problem: error.issues[0]?.message ?? 'not a contact' };
  // ASCII, so that cutting it breaks no character.
  const account = data.email.slice(0, data.email.lastIndexOf('@'));
  return { line, name: data.name || account.slice(0, MAX_NAME_LENGTH), email: data.email };
}

/** Not every other text is an address; but a parse that fails costs much more than one that does not. */
function isNoEmail(text: string): boolean {
  return !text.includes('@') && text.length <= MAX_EMAIL_LENGTH;
}
