/** Reads ranges of a file, with limits on what a damaged or forged file can make it read. */

/** Reads the bytes from `start` up to, but not including, `end`. */
export type ReadRange = (start: number, end: number) => Promise<Uint8Array>;

/** A file of which ranges are read. `read` throws for a range beyond the end. */
export type RangedFile = { size: number; read: ReadRange };

/** More requests or bytes would be needed than a file may cost. */
export class ReadLimitReached extends Error {}

/** A read that is not sequential brings at least this much, because several small boxes often follow each other. */
const READ_AHEAD_BYTES = 64 * 1024;
const MAX_REQUESTS = 20;
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Returns a file whose bytes are fetched once and kept. `head` is its beginning, which needs no request. Throws
 * ReadLimitReached before the 21st request, and before more than 32 MiB have been fetched.
 */
export function createBoundedFile(size: number, head: Uint8Array, fetch: ReadRange): RangedFile {
  const blocks = [{ start: 0, bytes: head }];
  let requests = 0;
  let fetched = 0;

  const find = (start: number, end: number): Uint8Array | null => {
    const block = blocks.find(({ start: from, bytes }) => from <= start && end <= from + bytes.length);
    return block === undefined ? null : block.bytes.subarray(start - block.start, end - block.start);
  };

  return {
    size,
    async read(start, end) {
      if (start < 0 || end < start || end > size) throw new RangeError('The range is outside of the file');
      const known = find(start, end);
      if (known !== null) return known;
      const until = Math.min(size, Math.max(end, start + READ_AHEAD_BYTES));
      requests += 1;
      fetched += until - start;
      if (requests > MAX_REQUESTS || fetched > MAX_BYTES) throw new ReadLimitReached('The file needs too many reads');
      const bytes = await fetch(start, until);
      blocks.push({ start, bytes });
      return bytes.subarray(0, end - start);
    },
  };
}

const BLOCK_BYTES = 2 * 1024 * 1024;
/** A packet or an index is smaller. The memory of what is read is not part of what limits the thread. */
const MAX_READ_BYTES = 64 * 1024 * 1024;
/** Several tracks of a file are read at the same time, at different positions. */
const MAX_BLOCKS = 4;

/**
 * Returns a function that reads a file of any size, in blocks, of which the last 8 MiB are kept. It throws
 * ReadLimitReached for more than 64 MiB at once.
 */
export function createSequentialReader(size: number, fetch: ReadRange): ReadRange {
  // In the order of use, so that the first is the one that was used least recently.
  const blocks = new Map<number, Promise<Uint8Array>>();

  const readBlock = (index: number): Promise<Uint8Array> => {
    const start = index * BLOCK_BYTES;
    const block = blocks.get(index) ?? fetch(start, Math.min(size, start + BLOCK_BYTES));
    blocks.delete(index);
    blocks.set(index, block);
    const [oldest] = blocks.keys();
    if (blocks.size > MAX_BLOCKS && oldest !== undefined) blocks.delete(oldest);
    return block;
  };

  return async (start, end) => {
    if (end - start > MAX_READ_BYTES) throw new ReadLimitReached('The file needs too much memory');
    const bytes = new Uint8Array(end - start);
    for (let at = start; at < end; ) {
      const index = Math.floor(at / BLOCK_BYTES);
      const offset = at - index * BLOCK_BYTES;
      const part = (await readBlock(index)).subarray(offset, offset + end - at);
      if (part.length === 0) throw new RangeError('The range is outside of the file');
      bytes.set(part, at - start);
      at += part.length;
    }
    return bytes;
  };
}
