/** A device in memory, which keeps the parts of a spool as a browser does. */
import type { Found, PartStore } from '../../../web/src/meeting/recorder/spool.ts';

export type MemoryDevice = PartStore & {
  readonly parts: Map<number, Blob>;
  /** Whether it takes no more parts. */
  isFull: boolean;
  isCleared: boolean;
  /** What a page finds that is opened now. */
  find(): Found;
};

export function createMemoryDevice(): MemoryDevice {
  const parts = new Map<number, Blob>();
  let uploadUrl: string | null = null;
  return {
    parts,
    isFull: false,
    isCleared: false,
    async write(offset, bytes) {
      if (this.isFull) throw new Error('The device is full');
      parts.set(offset, bytes);
    },
    async read(offset) {
      const part = parts.get(offset);
      if (part === undefined) throw new Error('The device has no such part');
      return part;
    },
    async remove(offset) {
      parts.delete(offset);
    },
    async writeUrl(url) {
      uploadUrl = url;
    },
    async clear() {
      parts.clear();
      uploadUrl = null;
      this.isCleared = true;
    },
    find: () => ({
      uploadUrl,
      isFinished: true,
      parts: [...parts].map(([offset, { size }]) => ({ offset, size })),
    }),
  };
}
