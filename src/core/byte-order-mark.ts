/** The byte order mark of UTF-8, without which Excel takes the letters of a CSV file for those of another encoding. */
import { z } from 'zod';

const MARK = Buffer.from('\ufeff');

export const bom = z
  .boolean()
  .default(false)
  .describe('Whether the file begins with a byte order mark, which Excel needs for letters other than A to Z');

/** Yields the chunks of a file, the first one behind a byte order mark if `isMarked`. */
export async function* markByteOrder(
  chunks: AsyncIterable<Buffer>,
  isMarked: boolean,
): AsyncGenerator<Buffer, void, undefined> {
  let start = isMarked ? [MARK] : [];
  for await (const chunk of chunks) {
    yield start.length > 0 ? Buffer.concat([...start, chunk]) : chunk;
    start = [];
  }
}
