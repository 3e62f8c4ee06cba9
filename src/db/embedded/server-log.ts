import { copyFile, open, stat, truncate } from 'node:fs/promises';
import { lastLines } from './errors.ts';

const MAX_BYTES = 5 * 1024 * 1024;
const CHECK_EVERY_MS = 60_000;

/** PostgreSQL's log file; it outlives us with the PostgreSQL that writes to it, so it is a file and not a pipe. */
export type ServerLog = {
  /** Opens the file for a child to write to. Close it when the child has it. */
  openForChild(): Promise<{ fd: number; close(): Promise<void> }>;
  size(): Promise<number>;
  /** The last lines that were written after the file had `offset` bytes, on one line. */
  tail(offset: number): Promise<string>;
  close(): void;
};

const TAIL_BYTES = 4096;

/**
 * Keeps the log below about twice 5 MB: when it is larger, at start or a minute later, it becomes `<path>.1` and begins
 * anew. It is copied and cut, not renamed, since the writer keeps its descriptor (which appends, so that it follows).
 */
export async function openServerLog(path: string): Promise<ServerLog> {
  await cutIfLarge(path);
  const timer = setInterval(() => {
    // A full disk must not end the server over its log; the next minute tries again.
    cutIfLarge(path).catch(() => undefined);
  }, CHECK_EVERY_MS);
  timer.unref();
  return {
    openForChild: async () => {
      const file = await open(path, 'a', 0o600);
      return { fd: file.fd, close: () => file.close() };
    },
    size: () => sizeOf(path),
    tail: (offset) => readTail(path, offset),
    close: () => clearInterval(timer),
  };
}

async function cutIfLarge(path: string): Promise<void> {
  if ((await sizeOf(path)) <= MAX_BYTES) return;
  await copyFile(path, `${path}.1`);
  await truncate(path);
}

function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

async function readTail(path: string, offset: number): Promise<string> {
  try {
    const file = await open(path, 'r');
    try {
      const start = Math.max(offset, (await file.stat()).size - TAIL_BYTES);
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(TAIL_BYTES), position: start });
      return lastLines(buffer.toString('utf8', 0, bytesRead));
    } finally {
      await file.close();
    }
  } catch {
    return '';
  }
}
