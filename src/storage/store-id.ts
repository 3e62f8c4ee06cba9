/** Binds a database to the store of its files, so that servers with separate stores are detected at start. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileIfMissing, ifExists } from '../core/files.ts';
import type { Database } from '../db/client.ts';
import { nullable, statement, text } from '../db/statements.ts';
import type { StorageSettings } from './create-store.ts';

/** Sent without Prisma, like the other statements here: a server would have to load Prisma before it can listen. */
const boundStore = statement('read-bound-store', {
  params: {},
  returns: { store: text },
  sql: 'select store from object_store_id limit 1',
});

const bind = statement('bind-store', {
  params: { store: text },
  sql: 'insert into object_store_id (store) values ($store) on conflict do nothing',
});

/** Binds a directory that this database has created an id for. */
const bindCreated = statement('bind-created-store', {
  params: { store: nullable(text) },
  sql: `
    insert into object_store_id (store) select store from created_store_ids where store = $store
    on conflict do nothing`,
});

const addCreated = statement('add-created-store-id', {
  params: { store: text },
  sql: 'insert into created_store_ids (store) values ($store)',
});

/** The files of the database are in another store. The message is one line for the person who starts the server. */
export class OtherStoreError extends Error {
  constructor(message: string) {
    super(`${message}. See "Moving files" in docs/storage.md`);
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
  if (settings.kind === 's3') await bindBucket(db, `s3:${settings.bucket}/${settings.prefix ?? ''}`);
  else await bindDirectory(db, settings.root);
}

async function bindBucket(db: Database, store: string): Promise<void> {
  await db.sql.run(bind, { store });
  const bound = await readBound(db);
  if (bound === store) return;
  const other = bound?.startsWith('s3:') ? `in ${bound}` : 'in the DATA_DIR of a server';
  throw new OtherStoreError(`The files of this database are ${other}, not in ${store}`);
}

/**
 * The process may be killed between any two steps. An ID is written to `created_store_ids` before it is written to the
 * directory. The next start therefore recognizes that the directory belongs to this database, and continues where the
 * previous start stopped. No lock is needed: if several servers start at the same time, those that share a directory
 * find the same file, and the first server to insert its row determines the store.
 */
async function bindDirectory(db: Database, root: string): Promise<void> {
  const path = join(root, 'store-id');
  if ((await readBound(db)) === undefined) {
    const found = (await readId(path)) ?? (await createId(db, path));
    await db.sql.run(bindCreated, { store: found ?? null });
  }
  const bound = await readBound(db);
  if (bound === undefined) throw new OtherStoreError(`The directory ${root} contains the files of another database`);
  if (bound === (await readId(path))) return;
  throw new OtherStoreError(
    bound.startsWith('s3:')
      ? `The files of this database are in ${bound}, not in the directory ${root}`
      : `The files of this database are in a directory other than ${root}: servers must share one, or use S3`,
  );
}

/** Resolves with the ID that the directory has now. If another server was faster, this is the ID that it wrote. */
async function createId(db: Database, path: string): Promise<string | undefined> {
  const created = `disk:${randomUUID()}`;
  await db.sql.run(addCreated, { store: created });
  await createFileIfMissing(path, `${created}\n`);
  return readId(path);
}

async function readId(path: string): Promise<string | undefined> {
  return (await ifExists(readFile(path, 'utf8')))?.trim();
}

/** Resolves with the store of the database, or undefined if it has none. */
async function readBound(db: Database): Promise<string | undefined> {
  const [bound] = await db.sql.run(boundStore, {});
  return bound?.store;
}
