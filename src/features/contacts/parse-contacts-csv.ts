/** Parses contacts in CSV (RFC 4180), one record at a time. */
import { pipeline, Readable } from 'node:stream';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Parser } from 'csv-parse';
import { z } from 'zod';
import { email, MAX_EMAIL_LENGTH, MAX_NAME_LENGTH, singleLineText } from '../../core/validation.ts';
import { type ContactColumns, findContactColumns, noEmailColumn, readEmail, readName } from './contact-columns.ts';
import { invalidCsv, MAX_COLUMNS, MAX_RECORD_BYTES, readHead, tooLong, toUtf8 } from './csv-head.ts';

/** The result of parsing a record. `line` is the line where the record starts; the first line of the file is 1. */
export type ParsedRow = { line: number; name: string; email: string } | { line: number; problem: string };

/**
 * All records of a piece are in memory at the same time, and parsing them blocks the event loop for a few milliseconds.
 */
const PIECE_BYTES = 16 * 1024;

/** Email addresses are normalized in the same way as the addresses of accounts, so that the two can be compared. */
const Person = z.object({ name: singleLineText(MAX_NAME_LENGTH), email });

/** The fields of a record, and the line where the record starts. Each character of a field is one byte of the file. */
type CsvRecord = string[] & { line: number };

/**
 * Parses the contacts of a CSV file: UTF-8, with or without a byte order mark, or UTF-16 with one. Its fields are
 * separated by commas, semicolons or tabs. A first line such as `sep=;`, which Excel writes and reads, is left out. The
 * first row names the columns (see `findContactColumns`).
 *
 * Names are trimmed and have at most 100 characters. A missing or blank name becomes the part of the email address
 * before the @. Email addresses are validated and converted to lower case. The same address can occur several times.
 * Blank rows are ignored.
 *
 * For an invalid row, yields what is wrong with it, and continues. Throws 400 with an empty `path` if the header has no
 * email column or is not UTF-8, if a record has more than 1 MiB or 1000 columns, or if a quote is not closed. Some rows
 * before such an error may not be yielded. Rethrows errors from the source unchanged.
 *
 * Keeps one chunk of the source and the records of one 16 KiB piece in memory, and yields to the event loop between
 * pieces. Returning early closes the source.
 */
export async function* parseContactsCsv(source: AsyncIterable<Buffer>): AsyncGenerator<ParsedRow, void, undefined> {
  const chunks = toUtf8(source);
  const { head, delimiter, namesDelimiter } = await readHead(chunks).catch(async (error) => {
    await chunks.return();
    throw error;
  });
  let isHeader = !namesDelimiter;
  let columns: ContactColumns | undefined;
  for await (const record of readRecords(splitIntoPieces(head, chunks), delimiter)) {
    if (columns !== undefined) yield parseRow(record, columns);
    else if (isHeader) columns = findContactColumns(record);
    isHeader = true;
  }
  if (columns === undefined) throw noEmailColumn();
}

/** Yields the records that contain text, each with the line where it starts. Throws 400. */
async function* readRecords(pieces: AsyncIterable<Buffer>, delimiter: string): AsyncGenerator<CsvRecord> {
  const { CsvError, parse } = await import('csv-parse');
  // The line of the current record, not counting empty lines. The count of the parser is not usable, because it counts
  // a CRLF within quotes twice.
  let nonEmptyLine = 1;
  const currentLine = (): number => nonEmptyLine + parser.info.empty_lines;
  const parser: Parser = parse({
    delimiter,
    // A file can mix line endings. By default, the parser expects every line to end like the first line.
    record_delimiter: ['\r\n', '\n', '\r'],
    // With UTF-8, the parser would silently replace invalid bytes.
    encoding: 'latin1',
    // Skipping empty lines here is cheap. If the parser returned them as records, ten million of them would take
    // seconds.
    skip_empty_lines: true,
    relax_quotes: true,
    relax_column_count: true,
    max_record_size: MAX_RECORD_BYTES,
    cast: (field, { index }) => {
      if (index >= MAX_COLUMNS) throw tooLong(currentLine());
      return field;
    },
    on_record: (fields: string[]): CsvRecord | null => {
      const line = currentLine();
      nonEmptyLine += countLines(fields);
      // Makes the parser treat every record as the first one. Otherwise, for each record whose length differs from that
      // of the first, the parser creates an error with a stack trace and then ignores the error. Parsing a file with
      // uneven rows would be 20 times slower.
      Object.assign(parser.info, { records: 0 });
      return fields.every(isBlank) ? null : Object.assign(fields, { line });
    },
  });
  try {
    // The iteration throws the same error that the callback receives, so the callback can ignore it.
    yield* pipeline(Readable.from(pieces), parser, () => {});
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    if (error.code === 'CSV_QUOTE_NOT_CLOSED') {
      throw invalidCsv(`Line ${currentLine()}: unclosed quote`, error);
    }
    const line = currentLine();
    throw error.code === 'CSV_MAX_RECORD_SIZE' ? tooLong(line, error) : invalidCsv(`Line ${line}: invalid CSV`, error);
  }
}

/** Counts the lines of a record. Only quoted fields contain line endings. */
function countLines(fields: readonly string[]): number {
  return fields.reduce((lines, field) => lines + (field.match(/\r\n|\r|\n/g)?.length ?? 0), 1);
}

function isBlank(field: string): boolean {
  return /^[ \t]*$/.test(field);
}

/**
 * Yields `head` and the rest of the file in pieces, each in a separate turn of the event loop. Otherwise, a file that
 * has already arrived would be parsed in a single turn. Always closes the file, even after a failure.
 */
async function* splitIntoPieces(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  try {
    let chunk: Buffer | undefined = head;
    while (chunk !== undefined) {
      for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
        await yieldToEventLoop();
        yield chunk.subarray(start, start + PIECE_BYTES);
      }
      const next: IteratorResult<Buffer> = await rest.next();
      chunk = next.done ? undefined : next.value;
    }
  } finally {
    await rest.return(undefined);
  }
}

function parseRow(record: CsvRecord, columns: ContactColumns): ParsedRow {
  const { line } = record;
  const name = readName(record, columns);
  if (name === null) return { line, problem: 'name must be UTF-8' };
  const email = readEmail(record, columns);
  if (email === null) return { line, problem: 'email must be UTF-8' };
  if (cannotBeEmail(email)) return { line, problem: 'email must be a valid email address' };
  const { error, data } = Person.safeParse({ name, email });
  if (error) return { line, problem: error.issues[0]?.message ?? 'invalid row' };
  // An address is ASCII, so truncating it does not split a character.
  const localPart = data.email.slice(0, data.email.lastIndexOf('@'));
  return { line, name: data.name || localPart.slice(0, MAX_NAME_LENGTH), email: data.email };
}

/**
 * Detects the most common invalid addresses cheaply, because a failed validation is much slower than a successful one.
 */
function cannotBeEmail(text: string): boolean {
  return !text.includes('@') && text.length <= MAX_EMAIL_LENGTH;
}
