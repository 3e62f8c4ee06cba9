/** The secrets of the installation: from the environment, or from files in the data directory. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifExists } from '../core/files.ts';
import type { Log } from '../core/log.ts';
import { createEncryptionKey, createSealer, readEncryptionKey, type Sealer } from '../core/sealing.ts';
import type { Config } from './config.ts';
import { loadOrCreateSecret, SecretFileError } from './secret-file.ts';

const ENCRYPTION_KEY_FILE = 'encryption-key';
const SIGNING_SECRET_FILE = 'signing-secret';

/** The first secret signs or seals. The others only verify or open. */
export type Secrets<Secret> = readonly [Secret, ...Secret[]];

/**
 * Returns the secrets that sign download URLs. The file in the data directory has one secret per line, the newest
 * first.
 */
export async function readOrCreateSigningSecrets(config: Config): Promise<Secrets<string>> {
  const { SIGNING_SECRET: secret, SIGNING_SECRET_PREVIOUS: previous = [] } = config;
  if (secret !== undefined) return [secret, ...previous];
  const create = () => randomBytes(32).toString('base64url');
  const text = await loadOrCreateSecret(config.DATA_DIR, SIGNING_SECRET_FILE, create);
  // `as`: the text is not empty, so it has a first line.
  return [...toLines(text), ...previous] as unknown as Secrets<string>;
}

/**
 * Returns a sealer with the keys that seal secrets in the database. The file in the data directory has one key per
 * line, the newest first.
 *
 * @throws SecretFileError if the keys can be neither read nor stored: a new key could not decrypt existing secrets
 */
export async function readOrCreateSealer(config: Config, log: Log): Promise<Sealer> {
  const path = encryptionKeyPath(config);
  if (config.ENCRYPTION_KEY === undefined) {
    const create = () => Buffer.from(createEncryptionKey()).toString('base64');
    await loadOrCreateSecret(config.DATA_DIR, ENCRYPTION_KEY_FILE, create).catch((cause: unknown) => {
      throw new SecretFileError(`The encryption key in ${path} cannot be read or stored: set ENCRYPTION_KEY`, cause);
    });
    if (config.DATABASE_URL !== undefined)
      log.warn({ path }, 'ENCRYPTION_KEY is not set: every server on this database needs the key in this file');
  }
  const sealer = await readSealer(config);
  if (sealer === null) throw new SecretFileError(`${path} was removed: restore it, or set ENCRYPTION_KEY`);
  return sealer;
}

/** Returns a sealer with the keys of the installation, or null if it has none yet. Throws SecretFileError. */
export async function readSealer(config: Config): Promise<Sealer | null> {
  const { ENCRYPTION_KEY: key, ENCRYPTION_KEY_PREVIOUS: previous = [] } = config;
  if (key !== undefined) return createSealer(key, ...previous);
  const path = encryptionKeyPath(config);
  const text = await ifExists(readFile(path, 'utf8'));
  if (text === undefined) return null;
  const keys = toLines(text).map((line) => {
    const read = readEncryptionKey(line);
    if (read === null) throw new SecretFileError(`${path} is not an encryption key: restore it, or set ENCRYPTION_KEY`);
    return read;
  });
  const [newest, ...others] = keys;
  if (!newest) throw new SecretFileError(`${path} is empty: restore it, or set ENCRYPTION_KEY`);
  return createSealer(newest, ...others, ...previous);
}

/** Where the key is stored if ENCRYPTION_KEY is not set. */
export function encryptionKeyPath({ DATA_DIR: directory }: Pick<Config, 'DATA_DIR'>): string {
  return join(directory, ENCRYPTION_KEY_FILE);
}

function toLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}
