/** The offsets of the first and the last byte, both inclusive, as in `Content-Range`. */
export type ByteRange = { first: number; last: number };

/**
 * Parses a `Range` header (RFC 9110, section 14) for a file of `size` bytes. Returns `whole` if the header is absent or
 * may be ignored. It is ignored if the unit is unknown, if the syntax is invalid, or if it asks for several ranges,
 * because these would only multiply the work. `unsatisfiable` means 416.
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
