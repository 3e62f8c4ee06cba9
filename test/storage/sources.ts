import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';

export const MIB = 1024 * 1024;
const BLOCK = 64 * 1024;

/** Calls `onBlock` with the bytes given out so far, before each block. */
type SourceOptions = { onBlock?: (pulled: number) => void };

/** `size` bytes as fast as anyone reads them, every block different from the others, so that a misplaced one is seen. */
export function byteSource(size: number, { onBlock }: SourceOptions = {}): Readable {
  let pulled = 0;
  return new Readable({
    highWaterMark: BLOCK,
    read() {
      onBlock?.(pulled);
      if (pulled >= size) {
        this.push(null);
        return;
      }
      const block = Buffer.alloc(Math.min(BLOCK, size - pulled), 0x20 + ((pulled / BLOCK) % 90));
      block.writeUInt8(pulled % 251);
      pulled += block.length;
      this.push(block);
    },
  });
}

/** Gives `size` bytes and then nothing more, not even an end, until `source.destroy` is called with or without error. */
export function stuckSource(size: number): Readable {
  let pulled = 0;
  return new Readable({
    read() {
      if (pulled >= size) return;
      pulled += BLOCK;
      this.push(Buffer.alloc(BLOCK, 1));
    },
  });
}

export async function hashOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest('hex');
}

export async function readAll(iterable: AsyncIterable<{ key: string }>): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of iterable) keys.push(key);
  return keys;
}

/** Polls until `condition` holds; the test's own time-out ends a wait in vain. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}
