/**
 * Spools in the origin private file system of the browser. Each recording has a directory with a file for each part.
 * Its name is also that of a lock, which the page holds that fills or sends the spool.
 */
import {
  createSpool,
  type PartStore,
  parseInfo,
  readPartName,
  type Spool,
  type SpoolInfo,
  toPartName,
} from './spool.ts';
import type { WriteOrder, WriteReply } from './spool-writer.worker.ts';

export const ROOT = 'recordings';
const INFO_FILE = 'info.json';
const URL_FILE = 'upload.txt';

/** The service keeps an unfinished upload as long. */
const MAX_AGE_MS = 24 * 3_600_000;

type Directory = FileSystemDirectoryHandle;

/** The name of the lock of a spool. */
export function lockOf(name: string): string {
  return `lynxroom.recording.${name}`;
}

/** A new name for a spool. `crypto.randomUUID` exists only in secure contexts: HTTPS and localhost. */
export function createSpoolName(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Creates the spool of a new recording, on the device if it can keep files. Call it with the lock of `name`. */
export async function createDeviceSpool(name: string, info: SpoolInfo): Promise<Spool> {
  const root = await openRoot();
  if (root === null) return createSpool(info, null);
  const write = startWriter(name);
  try {
    const directory = await root.getDirectoryHandle(name, { create: true });
    await write(INFO_FILE, new Blob([JSON.stringify(info)]));
    return createSpool(info, toStore(root, directory, name, write));
  } catch {
    write.end();
    await removeSpool(root, name);
    return createSpool(info, null);
  }
}

/** The names of all spools on the device. Pages may be filling or sending some of them. */
export async function listDeviceSpools(): Promise<string[]> {
  const root = await openRoot();
  const names: string[] = [];
  if (root !== null) for await (const name of root.keys()) names.push(name);
  return names;
}

/**
 * Opens a spool that an earlier page has left. Call it with the lock of `name`. Returns null if there is nothing to
 * send, because it was sent meanwhile or is too old. Then it is removed.
 */
export async function openDeviceSpool(name: string): Promise<Spool | null> {
  const root = await openRoot();
  if (root === null) return null;
  try {
    const directory = await root.getDirectoryHandle(name);
    const infoFile = await readFile(directory, INFO_FILE);
    const info = infoFile && parseInfo(await infoFile.text());
    const parts: { offset: number; size: number }[] = [];
    let changedAt = infoFile?.lastModified ?? 0;
    for await (const file of directory.keys()) {
      const offset = readPartName(file);
      const part = offset === null ? null : await readFile(directory, file);
      if (offset === null || part === null) continue;
      parts.push({ offset, size: part.size });
      changedAt = Math.max(changedAt, part.lastModified);
    }
    if (info !== null && Date.now() - changedAt < MAX_AGE_MS) {
      const uploadUrl = (await (await readFile(directory, URL_FILE))?.text()) || null;
      const store = toStore(root, directory, name, startWriter(name));
      return createSpool(info, store, { uploadUrl, parts, isFinished: true });
    }
  } catch {
    // It was removed, or the browser cannot read it.
  }
  await removeSpool(root, name);
  return null;
}

/** Returns null where the browser keeps no files, as in private windows of Firefox, or over plain HTTP. */
async function openRoot(): Promise<Directory | null> {
  try {
    return await (await navigator.storage.getDirectory()).getDirectoryHandle(ROOT, { create: true });
  } catch {
    return null;
  }
}

async function removeSpool(root: Directory, name: string): Promise<void> {
  await root.removeEntry(name, { recursive: true }).catch(() => {});
}

async function readFile(directory: Directory, name: string): Promise<File | null> {
  try {
    return await (await directory.getFileHandle(name)).getFile();
  } catch {
    return null;
  }
}

function toStore(root: Directory, directory: Directory, name: string, write: Writer): PartStore {
  return {
    write: (offset, bytes) => write(toPartName(offset), bytes),
    async read(offset) {
      return (await directory.getFileHandle(toPartName(offset))).getFile();
    },
    remove: (offset) => directory.removeEntry(toPartName(offset)),
    writeUrl: (url) => write(URL_FILE, new Blob([url])),
    async clear() {
      write.end();
      await removeSpool(root, name);
    },
  };
}

/** Writes a file, and resolves once the device has it. */
type Writer = { (file: string, bytes: Blob): Promise<void>; end(): void };

/** Only workers can write files through to the device. The worker starts with the first file. */
function startWriter(directory: string): Writer {
  let worker: Worker | null = null;
  let failure: Error | null = null;
  let lastId = 0;
  const pending = new Map<number, PromiseWithResolvers<void>>();

  function fail(error: Error): void {
    failure = error;
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  }

  function start(): Worker {
    const started = new Worker(new URL('./spool-writer.worker.ts', import.meta.url), { type: 'module' });
    started.addEventListener('message', ({ data }: MessageEvent<WriteReply>) => {
      const { resolve, reject } = pending.get(data.id) ?? {};
      pending.delete(data.id);
      if (data.error === null) resolve?.();
      else reject?.(new Error(data.error));
    });
    started.addEventListener('error', () => fail(new Error('The files cannot be written')));
    return started;
  }

  async function write(file: string, blob: Blob): Promise<void> {
    const bytes = await blob.arrayBuffer();
    if (failure !== null) throw failure;
    worker ??= start();
    lastId += 1;
    const written = Promise.withResolvers<void>();
    pending.set(lastId, written);
    const order: WriteOrder = { id: lastId, directory, file, bytes };
    worker.postMessage(order, [bytes]);
    return written.promise;
  }

  return Object.assign(write, {
    end() {
      worker?.terminate();
      fail(new Error('The spool was closed'));
    },
  });
}
