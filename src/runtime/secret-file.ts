/** Secrets that are generated on the first start and stored in the data directory. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileIfMissing, ifExists } from '../core/files.ts';

/** A secret of this installation cannot be read or stored. The message says what to do. */
export class SecretFileError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'SecretFileError';
  }
}

/**
 * Returns the secret in `<directory>/<name>`. If there is none, stores and returns the result of `create`. Only the
 * owner of this process can read the file. Processes that start at the same time all get the same secret.
 *
 * @throws SecretFileError if the file is empty
 */
export async function loadOrCreateSecret(directory: string, name: string, create: () => string): Promise<string> {
  const path = join(directory, name);
  const stored = await ifExists(readFile(path, 'utf8'));
  if (stored === undefined) {
    await mkdir(directory, { recursive: true });
    await createFileIfMissing(path, create());
  }
  const secret = (stored ?? (await readFile(path, 'utf8'))).trim();
  if (secret === '') throw new SecretFileError(`${path} is empty: restore it, or delete it to generate a new one`);
  return secret;
}
