/** Writes contacts as CSV (RFC 4180), one batch of records at a time. */
import { escapeFormula } from './escape-formulas.ts';

/** A row of the file. `created_at` is a Unix timestamp in seconds. */
export type ContactCsvRow = { id: number; name: string; email: string; created_at: number };

const COLUMNS = ['id', 'name', 'email', 'created_at'];

/**
 * Writes contacts as CSV in UTF-8 with CRLF line endings: one chunk with the header, then one chunk per batch. Reads a
 * batch only after the caller has consumed the previous chunks. The header waits for the first batch, so that nothing
 * is sent if the source fails immediately. `parseContactsCsv` restores the same names and addresses. Rethrows errors
 * from the source unchanged.
 */
export async function* writeContactsCsv(
  batches: AsyncIterable<ContactCsvRow[]>,
): AsyncGenerator<Buffer, void, undefined> {
  let hasHeader = false;
  for await (const rows of batches) {
    if (!hasHeader) yield await toCsv([COLUMNS]);
    hasHeader = true;
    if (rows.length > 0) yield await toCsv(rows);
  }
  if (!hasHeader) yield await toCsv([COLUMNS]);
}

async function toCsv(records: ContactCsvRow[] | string[][]): Promise<Buffer> {
  const { stringify } = await import('csv-stringify/sync');
  const options = { columns: COLUMNS, record_delimiter: '\r\n', quote_record_delimiter: true };
  return Buffer.from(stringify(records, { ...options, cast: { string: escapeFormula } }));
}
