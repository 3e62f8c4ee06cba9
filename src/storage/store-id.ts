/** Binds a database to the store of its files, so that servers with separate stores are detected at start. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileIfMissing, ifExists } from '../core/files.ts';
import { type Database, type Tx, transact } from '../db/client.ts';
import type { StorageSettings } from './create-store.ts';

/** The files of the database are in another store. The message is one line for the person who starts the server. */
export class OtherStoreError extends Error {
  constructor(message: string) {
    super(`${message}. See "Moving files" in docs/operating.md`);
    this.name = 'OtherStoreError';
  }
}

/**
 * Checks that a store belongs to the database. The first server that starts on a database binds it to its store. The
 * directory of a disk store must exist. S3 is not contacted.
 *
 * @throws OtherStoreError if the database has another store, or the directory belongs to another database
 */
export async function bindStore(db: Database, settings: StorageSettings): Promise<void> {
  await transact(db, (tx) =>
    settings.kind === 's3'
      ? bindBucket(tx, `s3:${settings.bucket}/${settings.prefix ?? ''}`)
      : bindDirectory(tx, settings.root),
  );
}

async function bindBucket(tx: Tx, store: string): Promise<void> {
  const bound = await insertOrRead(tx, store);
  if (bound === store) return;
  const other = bound.startsWith('s3:') ? `in ${bound}` : 'in the DATA_DIR of a server';
  throw new OtherStoreError(`The files of this database are ${other}, not in ${store}`);
}

/** The row stays locked until the file is written, so another server waits and then finds both. */
async function bindDirectory(tx: Tx, root: string): Promise<void> {
  const path = join(root, 'store-id');
  const created = `disk:${randomUUID()}`;
  const bound = await insertOrRead(tx, created);
  if (bound === created) await createFileIfMissing(path, `${created}\n`);
  const found = (await ifExists(readFile(path, 'utf8')))?.trim();
  if (found === bound) return;
  if (bound === created) throw new OtherStoreError(`The directory ${root} has the files of another database`);
  throw new OtherStoreError(
    bound.startsWith('s3:')
      ? `The files of this database are in ${bound}, not in the directory ${root}`
      : `The files of this database are in a directory other than ${root}: servers must share one, or use S3`,
  );
}

/** Binds the database to `store`, unless it has a store already. Returns the store of the database. */
async function insertOrRead(tx: Tx, store: string): Promise<string> {
  await tx.$executeRaw`insert into object_store_id (store) values (${store}) on conflict do nothing`;
  return (await tx.objectStoreId.findFirstOrThrow()).store;
}
