/** Contacts as CSV (RFC 4180), out, one record at a time. */
import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import { escapeFormula } from './escape-formulas.ts';

/** A contact as a row of the file. `created_at` is a Unix timestamp in seconds. */
export type ContactCsvRow = { id: number; name: string; email: string; created_at: number };

/**
 * Writes contacts as CSV: UTF-8, CRLF, a header row also where there are none. Rows are taken as fast as the reader takes
 * what is written. `parseContactsCsv` gives the same names and addresses again. What the source throws comes through.
 */
export async function* writeContactsCsv(rows: AsyncIterable<ContactCsvRow>): AsyncGenerator<Buffer, void, undefined> {
  const csv = stringify({
    header: true,
    columns: ['id', 'name', 'email', 'created_at'],
    record_delimiter: '\r\n',
    quote_record_delimiter: true,
    cast: { string: escapeFormula },
  });
  // Its callback has nothing to do: the iteration throws what it would be told.
  yield* pipeline(Readable.from(rows), csv, () => {});
}
