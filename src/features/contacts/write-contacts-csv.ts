/** Writes contacts as CSV (RFC 4180), one record at a time. */
import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import { escapeFormula } from './escape-formulas.ts';

/** A row of the file. `created_at` is a Unix timestamp in seconds. */
export type ContactCsvRow = { id: number; name: string; email: string; created_at: number };

/**
 * Writes contacts as CSV in UTF-8 with CRLF line ends. The header row is always written. Consumes rows only as fast as
 * the caller consumes the output. `parseContactsCsv` restores the same names and addresses. Errors of the source are
 * thrown as they are.
 */
export async function* writeContactsCsv(rows: AsyncIterable<ContactCsvRow>): AsyncGenerator<Buffer, void, undefined> {
  const csv = stringify({
    header: true,
    columns: ['id', 'name', 'email', 'created_at'],
    record_delimiter: '\r\n',
    quote_record_delimiter: true,
    cast: { string: escapeFormula },
  });
  // The iteration also throws the error that the callback receives, so the callback can ignore it.
  yield* pipeline(Readable.from(rows), csv, () => {});
}
