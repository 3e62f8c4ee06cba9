import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';

export const MIB = 1024 * 1024;
const BLOCK = 64 * 1024;

/** `onBlock` is called before each block with the number of bytes produced so far. */
type SourceOptions = { onBlock?: (produced: number) => void };

/** A source of `size` bytes. Each block is different, so that tests detect misplaced ones. */
export function byteSource(size: number, { onBlock }: SourceOptions = {}): Readable {
  let produced = 0;
  return new Readable({
    highWaterMark: BLOCK,
    read() {
      onBlock?.(produced);
      if (produced >= size) {
        this.push(null);
        return;
      }
      const block = Buffer.alloc(Math.min(BLOCK, size - produced), 0x20 + ((produced / BLOCK) % 90));
      block.writeUInt8(produced % 251);
      produced += block.length;
      this.push(block);
    },
  });
}

/** A source that stalls after `size` bytes, and never ends. */
export function stuckSource(size: number): Readable {
  let produced = 0;
  return new Readable({
    read() {
      if (produced >= size) return;
      produced += BLOCK;
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

/** Polls until `condition` is true. If it never is, the test runs into its timeout. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}
