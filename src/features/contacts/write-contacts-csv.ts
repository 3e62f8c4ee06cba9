/** Writes contacts as CSV (RFC 4180), one batch of records at a time. */
import { stringify } from 'csv-stringify/sync';
import { escapeFormula } from './escape-formulas.ts';

/** A row of the file. `created_at` is a Unix timestamp in seconds. */
export type ContactCsvRow = { id: number; name: string; email: string; created_at: number };

const COLUMNS = ['id', 'name', 'email', 'created_at'];

/**
 * Writes contacts as CSV in UTF-8 with CRLF line ends: one chunk with the header, then one for each batch. Takes a
 * batch only when the caller has consumed the chunks before it, except that the header waits for the first batch: if
 * the source fails at once, nothing has been sent. `parseContactsCsv` restores the same names and addresses. Errors of
 * the source are thrown as they are.
 */
export async function* writeContactsCsv(
  batches: AsyncIterable<ContactCsvRow[]>,
): AsyncGenerator<Buffer, void, undefined> {
  let hasHeader = false;
  for await (const rows of batches) {
    if (!hasHeader) yield toCsv([COLUMNS]);
    hasHeader = true;
    if (rows.length > 0) yield toCsv(rows);
  }
  if (!hasHeader) yield toCsv([COLUMNS]);
}

function toCsv(records: ContactCsvRow[] | string[][]): Buffer {
  const options = { columns: COLUMNS, record_delimiter: '\r\n', quote_record_delimiter: true };
  return Buffer.from(stringify(records, { ...options, cast: { string: escapeFormula } }));
}
