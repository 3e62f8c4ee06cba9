/** Limits the size of a page, because the process serves no other call while a page becomes JSON. */

/** The maximum size of the entries of a page as JSON. */
const MAX_PAGE_BYTES = 512 * 1024;

/** A UTF-16 unit takes at most six bytes, as in `\u0000`. */
const MAX_BYTES_PER_UNIT = 6;
/** Of a number, a boolean, null or a time, and of the quotes and separators of any value. */
const MAX_BYTES_OF_OTHERS = 32;

/** Returns how many of the first rows fit on a page: at least one, if there is one. */
export function countFitting(rows: readonly object[], maxBytes = MAX_PAGE_BYTES): number {
  // Only a page that may be too large is measured exactly, because that takes as long as sending it.
  return countWithin(rows, boundOf, maxBytes) === rows.length
    ? rows.length
    : Math.max(1, countWithin(rows, sizeOf, maxBytes));
}

/** Returns how many of the first rows have at most `maxBytes` together. */
function countWithin(rows: readonly object[], bytesOf: (row: object) => number, maxBytes: number): number {
  let bytes = 0;
  const tooMuch = rows.findIndex((row) => {
    bytes += bytesOf(row);
    return bytes > maxBytes;
  });
  return tooMuch === -1 ? rows.length : tooMuch;
}

/** Returns the size of a row as JSON, with the comma after it. */
function sizeOf(row: object): number {
  return Buffer.byteLength(JSON.stringify(row)) + 1;
}

/** Returns an upper bound of the size of a value as JSON. */
function boundOf(value: unknown): number {
  if (typeof value === 'string') return MAX_BYTES_OF_OTHERS + MAX_BYTES_PER_UNIT * value.length;
  let bytes = MAX_BYTES_OF_OTHERS;
  if (Array.isArray(value)) for (const entry of value) bytes += boundOf(entry);
  else if (typeof value === 'object')
    for (const name in value)
      bytes += MAX_BYTES_PER_UNIT * name.length + boundOf((value as Record<string, unknown>)[name]);
  return bytes;
}
