import { copyFile, open, stat, truncate } from 'node:fs/promises';
import { joinLastLines } from './errors.ts';

const MAX_BYTES = 5 * 1024 * 1024;
const CHECK_EVERY_MS = 60_000;
const TAIL_BYTES = 4096;

/** PostgreSQL's log. It is a file and not a pipe, because PostgreSQL can outlive this process. */
export type ServerLog = {
  /** Opens the file for a child process to write to. Close it once the child process has been spawned. */
  openForChild(): Promise<{ fd: number; close(): Promise<void> }>;
  size(): Promise<number>;
  /** Returns the last lines after the first `offset` bytes, joined into one line. */
  tail(offset: number): Promise<string>;
  close(): void;
};

/**
 * Opens the log and limits its size. If it exceeds 5 MB now, or in a check that runs every minute, its content is moved
 * to `<path>.1`. The log is copied and truncated instead of renamed, because PostgreSQL keeps the file open for
 * appending.
 */
export async function openServerLog(path: string): Promise<ServerLog> {
  await rotateIfLarge(path);
  const timer = setInterval(() => {
    // A full disk must not end the server. The next check tries again.
    rotateIfLarge(path).catch(() => undefined);
  }, CHECK_EVERY_MS);
  timer.unref();
  return {
    async openForChild() {
      const file = await open(path, 'a', 0o600);
      return { fd: file.fd, close: () => file.close() };
    },
    size: () => sizeOf(path),
    tail: (offset) => readTail(path, offset),
    close: () => clearInterval(timer),
  };
}

async function rotateIfLarge(path: string): Promise<void> {
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
    await using file = await open(path, 'r');
    const position = Math.max(offset, (await file.stat()).size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(TAIL_BYTES), position });
    return joinLastLines(buffer.toString('utf8', 0, bytesRead));
  } catch {
    return '';
  }
}
