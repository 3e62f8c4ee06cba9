/**
 * Holds uploaded files in memory until they are imported, within one memory limit for the whole process. This is not a
 * `Limiter` (src/core/limiter.ts), because a file whose size is unknown is accepted, and loses its memory to others.
 */
import type { AppError } from '../../core/errors.ts';

/**
 * Chunks are copied into blocks of this size, so that the memory use of a file is known, however small its chunks are.
 */
const BLOCK_BYTES = 64 * 1024;

export type ReceivedFile = {
  blocks: readonly Buffer[];
  /** Frees the memory of the file. */
  release(): void;
};

export type ImportBuffers = {
  /**
   * Receives a whole file. If the memory is full, rejects one incomplete file with `refusal()`: the oldest file of the
   * user whose files use the most memory. Rejects with the error of `file` if reading it fails.
   */
  receive(userId: number, file: AsyncIterable<Buffer>): Promise<ReceivedFile>;
};

type Arrival = { userId: number; bytes: number; isComplete: boolean; refuse(reason: unknown): void };

/** All files together use at most `maxBytes`. */
export function createImportBuffers(maxBytes: number, refusal: () => AppError): ImportBuffers {
  const arrivals = new Set<Arrival>();
  let total = 0;

  const remove = (arrival: Arrival): void => {
    if (arrivals.delete(arrival)) total -= arrival.bytes;
  };

  const reserve = (arrival: Arrival): void => {
    // The file was rejected, but another chunk arrived before its reader stopped.
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
      // Prevents an unhandled rejection if the file is rejected while nothing awaits `refused`.
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

/** Copies `file` into blocks. Calls `onBlock` before it allocates a block. */
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

/** Returns the oldest incomplete file of the user with the most bytes, or undefined if all files are complete. */
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
