/** Copies a file, and hashes it while copying. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ifExists } from '../core/files.ts';

/**
 * Copies a file to a path that does not exist yet, readable by its owner alone. When it resolves, the copy is on disk.
 * Resolves with its size and SHA-256, or with undefined if the file does not exist.
 */
export async function copyFile(
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<{ size: number; sha256: string } | undefined> {
  const source = createReadStream(from);
  // Opened before the target is created.
  const isOpen = await ifExists(
    new Promise<true>((resolve, reject) => source.once('open', () => resolve(true)).once('error', reject)),
  );
  if (!isOpen) return undefined;
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const hash = createHash('sha256');
  let size = 0;
  async function* hashed(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      size += chunk.length;
      yield chunk;
    }
  }
  await pipeline(source, hashed, createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true }), { signal });
  return { size, sha256: hash.digest('hex') };
}
