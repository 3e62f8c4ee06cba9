/** Secrets that are made on the first start and kept with the data. */
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A secret of this installation cannot be read or kept; the message says what to do. */
export class SecretFileError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'KeptSecretError';
  }
}

/**
 * The text in `<folder>/<name>`; where there is none, that of `create`, written for the owner of the process alone. Of
 * processes that start at once, one writes and all get the same; one that is killed leaves no half-written file.
 */
export async function loadOrCreateSecret(folder: string, name: string, create: () => string): Promise<string> {
  const path = join(folder, name);
  const kept = await readIfThere(path);
  if (kept?.trim() === '') throw new SecretFileError(`${path} is empty: restore it, or delete it for a new one`);
  if (kept !== null) return kept.trim();
  await mkdir(folder, { recursive: true });
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, create(), { mode: 0o600, flag: 'wx', flush: true });
  try {
    await link(draft, path);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
}

function readIfThere(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  });
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
