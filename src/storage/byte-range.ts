/** First and last byte, both inclusive, as `Content-Range` counts them. */
export type ByteRange = { first: number; last: number };

/**
 * Reads a `Range` header (RFC 9110 section 14) for a file of `size` bytes.
 * `whole` is the answer to what may be ignored: no header, another unit, bad syntax, and several ranges at once (whose
 * multipart answers only serve to multiply work). `unsatisfiable` means 416.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '');
  const [, from = '', to = ''] = match ?? [];
  if (from === '' && to === '') return 'whole';

  if (from === '') {
    const length = Math.min(Number(to), size);
    return length === 0 ? 'unsatisfiable' : { first: size - length, last: size - 1 };
  }
  const first = Number(from);
  if (to !== '' && Number(to) < first) return 'whole';
  if (first >= size) return 'unsatisfiable';
  return { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}
