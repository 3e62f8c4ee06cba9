/**
 * A spool keeps the bytes of a recording until the service has them: on the device, or in memory where the device keeps
 * nothing. Pure, besides the store.
 */

/** What a spool has to remember to go on after a crash of the page. */
export type SpoolInfo = {
  recordingId: number;
  roomName: string;
  /** Allows to upload the file of this recording, and nothing else. */
  uploadToken: string;
  extension: 'mp4' | 'webm';
};

/** Keeps the parts of a spool on the device. A part is whole and durable once `write` has resolved. */
export type PartStore = {
  write(offset: number, bytes: Blob): Promise<void>;
  read(offset: number): Promise<Blob>;
  remove(offset: number): Promise<void>;
  /** Keeps the URL of the upload. */
  writeUrl(url: string): Promise<void>;
  /** Removes the parts, and everything else about the recording. */
  clear(): Promise<void>;
};

/** `bytes` is null if the store has the part. */
type Part = { offset: number; size: number; bytes: Blob | null };

export type Spool = {
  readonly info: SpoolInfo;
  /** Whether the device keeps everything. If not, what is not sent is lost with the page. */
  readonly isOnDevice: boolean;
  /** How many bytes are kept in memory alone. */
  readonly bytesInMemory: number;
  readonly uploadUrl: string | null;
  /** The first byte that it still has, and the number of bytes of the recording so far. */
  readonly start: number;
  readonly end: number;
  /** Whether nothing follows. */
  readonly isFinished: boolean;
  /** Adds bytes at the end. If the device cannot keep them, they are kept in memory. Never rejects. */
  append(bytes: Blob): Promise<void>;
  finish(): void;
  setUploadUrl(url: string): Promise<void>;
  /** Continues at an offset: the service has more than is left here, as after a crash. */
  skipTo(offset: number): void;
  /** Returns bytes from an offset on, at most about `maxBytes` of them. Rejects if the device has lost them. */
  read(offset: number, maxBytes: number): Promise<Blob>;
  /** Forgets the bytes before an offset, which the service has. */
  discard(before: number): Promise<void>;
  /** Forgets everything. */
  clear(): Promise<void>;
  /** Resolves the next time that bytes were added, or that it is finished. */
  waitForMore(): Promise<void>;
};

/** What a store had when the page was opened. */
export type Found = { uploadUrl: string | null; parts: { offset: number; size: number }[]; isFinished: true };

/** Creates a spool. `store` is null where the device keeps nothing. */
export function createSpool(info: SpoolInfo, store: PartStore | null, found: Found | null = null): Spool {
  const parts: Part[] = toSequence(found?.parts ?? []).map((part) => ({ ...part, bytes: null }));
  let isOnDevice = store !== null;
  let uploadUrl = found?.uploadUrl ?? null;
  let isFinished = found?.isFinished ?? false;
  let start = parts[0]?.offset ?? 0;
  let end = start + parts.reduce((sum, { size }) => sum + size, 0);
  let writing = Promise.resolve();
  const waiting = new Set<() => void>();

  function wake(): void {
    for (const resolve of waiting) resolve();
    waiting.clear();
  }

  async function write(bytes: Blob): Promise<void> {
    const part: Part = { offset: end, size: bytes.size, bytes };
    // After a failure, for example of a full disk, the rest stays in memory: a store has no gaps.
    if (store !== null && isOnDevice) {
      try {
        await store.write(part.offset, bytes);
        part.bytes = null;
      } catch {
        isOnDevice = false;
      }
    }
    parts.push(part);
    end += part.size;
    wake();
  }

  return {
    info,
    get isOnDevice() {
      return isOnDevice;
    },
    get bytesInMemory() {
      return parts.reduce((sum, { bytes }) => sum + (bytes?.size ?? 0), 0);
    },
    get uploadUrl() {
      return uploadUrl;
    },
    get start() {
      return start;
    },
    get end() {
      return end;
    },
    get isFinished() {
      return isFinished;
    },
    append(bytes) {
      if (bytes.size > 0) writing = writing.then(() => write(bytes));
      return writing;
    },
    finish() {
      isFinished = true;
      wake();
    },
    async setUploadUrl(url) {
      uploadUrl = url;
      // Without it, the upload could not be continued: what is kept on the device would be worth nothing.
      await store?.writeUrl(url).catch(() => {
        isOnDevice = false;
      });
    },
    skipTo(offset) {
      parts.length = 0;
      start = offset;
      end = offset;
    },
    async read(offset, maxBytes) {
      const blobs: Blob[] = [];
      let size = 0;
      for (const part of parts) {
        const skipped = Math.max(0, offset - part.offset);
        if (skipped >= part.size) continue;
        if (size > 0 && size + part.size > maxBytes) break;
        const bytes = part.bytes ?? (await store?.read(part.offset));
        if (bytes?.size !== part.size) throw new Error('A part of the recording is no longer on this device');
        const slice = bytes.slice(skipped, skipped + maxBytes);
        blobs.push(slice);
        size += slice.size;
        if (size >= maxBytes) break;
      }
      return new Blob(blobs);
    },
    async discard(before) {
      for (let [part] = parts; part !== undefined && part.offset + part.size <= before; [part] = parts) {
        parts.shift();
        start = part.offset + part.size;
        // What stays on the device by mistake is removed with the rest.
        if (part.bytes === null) await store?.remove(part.offset).catch(() => {});
      }
    },
    async clear() {
      parts.length = 0;
      start = end;
      await store?.clear();
    },
    waitForMore: () => new Promise((resolve) => waiting.add(resolve)),
  };
}

/** The parts in order, up to the first gap: what follows it cannot be sent. */
function toSequence(parts: readonly { offset: number; size: number }[]): { offset: number; size: number }[] {
  const sorted = parts.filter(({ size }) => size > 0).sort((one, other) => one.offset - other.offset);
  const gap = sorted.findIndex((part, index) => {
    const previous = sorted[index - 1];
    return previous !== undefined && previous.offset + previous.size !== part.offset;
  });
  return gap === -1 ? sorted : sorted.slice(0, gap);
}

const PART_NAME = /^(\d{1,15})\.part$/;

export function toPartName(offset: number): string {
  return `${offset}.part`;
}

/** Returns the offset of the part; null if the name is none of a part. */
export function readPartName(name: string): number | null {
  const digits = PART_NAME.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Reads what a store remembers of a spool. Returns null if it was written by another version, or not completely. */
export function parseInfo(text: string): SpoolInfo | null {
  try {
    const value: unknown = JSON.parse(text);
    return isInfo(value) ? value : null;
  } catch {
    return null;
  }
}

function isInfo(value: unknown): value is SpoolInfo {
  if (typeof value !== 'object' || value === null) return false;
  // `as`: each field is checked.
  const { recordingId, roomName, uploadToken, extension } = value as Partial<Record<keyof SpoolInfo, unknown>>;
  return (
    Number.isSafeInteger(recordingId) &&
    typeof roomName === 'string' &&
    typeof uploadToken === 'string' &&
    (extension === 'mp4' || extension === 'webm')
  );
}
