/** Holds the files of imports in memory until they are imported, within one bound for the whole process. */
import type { AppError } from '../../core/errors.ts';

/** Chunks are copied into blocks, so that the memory of a file is known, however small the chunks are. */
const BLOCK_BYTES = 64 * 1024;

export type ReceivedFile = {
  blocks: readonly Buffer[];
  /** Frees the memory. */
  release(): void;
};

export type ImportBuffers = {
  /**
   * Receives a whole file. When the memory is full, one file that is still arriving is refused with `refusal()`: the
   * oldest one of the user whose files take the most memory. Rejects with the error of `file` if it fails.
   */
  receive(userId: number, file: AsyncIterable<Buffer>): Promise<ReceivedFile>;
};

type Arrival = { userId: number; bytes: number; isComplete: boolean; refuse(reason: unknown): void };

/** All files together take at most `maxBytes`. */
export function createImportBuffers(maxBytes: number, refusal: () => AppError): ImportBuffers {
  const arrivals = new Set<Arrival>();
  let total = 0;

  const remove = (arrival: Arrival): void => {
    if (arrivals.delete(arrival)) total -= arrival.bytes;
  };

  const reserve = (arrival: Arrival): void => {
    // It was refused, and its next chunk arrived before its reader stopped.
    if (!arrivals.has(arrival)) throw refusal();
    arrival.bytes += BLOCK_BYTES;
    total += BLOCK_BYTES;
    while (total > maxBytes) {
      const victim = findVictim(arrivals);
      if (victim === undefined) return;
      remove(victim);
      victim.refuse(refusal());
    }
  };

  return {
    async receive(userId, file) {
      const { promise: refused, reject: refuse } = Promise.withResolvers<never>();
      // Prevents an unhandled rejection if the file is refused while nothing awaits `refused`.
      refused.catch(() => {});
      const arrival: Arrival = { userId, bytes: 0, isComplete: false, refuse };
      arrivals.add(arrival);
      try {
        const blocks = await Promise.race([refused, readBlocks(file, () => reserve(arrival))]);
        arrival.isComplete = true;
        return { blocks, release: () => remove(arrival) };
      } catch (error) {
        remove(arrival);
        throw error;
      }
    },
  };
}

/** Copies `file` into blocks. Calls `onBlock` for each new one. */
async function readBlocks(file: AsyncIterable<Buffer>, onBlock: () => void): Promise<Buffer[]> {
  const blocks: Buffer[] = [];
  let used = BLOCK_BYTES;
  for await (const chunk of file) {
    for (let start = 0; start < chunk.length; ) {
      if (used === BLOCK_BYTES) {
        onBlock();
        blocks.push(Buffer.allocUnsafeSlow(BLOCK_BYTES));
        used = 0;
      }
      const part = chunk.subarray(start, start + BLOCK_BYTES - used);
      blocks.at(-1)?.set(part, used);
      start += part.length;
      used += part.length;
    }
  }
  const last = blocks.pop();
  return last === undefined ? [] : [...blocks, last.subarray(0, used)];
}

/** The oldest incomplete file of the user with the most bytes. Undefined if all files are complete. */
function findVictim(arrivals: ReadonlySet<Arrival>): Arrival | undefined {
  const bytesOf = new Map<number, number>();
  for (const { userId, bytes } of arrivals) bytesOf.set(userId, (bytesOf.get(userId) ?? 0) + bytes);
  let victim: Arrival | undefined;
  for (const arrival of arrivals) {
    if (arrival.isComplete) continue;
    const isLarger = victim === undefined || (bytesOf.get(arrival.userId) ?? 0) > (bytesOf.get(victim.userId) ?? 0);
    if (isLarger) victim = arrival;
  }
  return victim;
}
