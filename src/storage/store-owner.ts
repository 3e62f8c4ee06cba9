/**
 * Marks a bucket as belonging to one database. A database that was restored elsewhere, for example to try a backup, has
 * the same rows as its original. With the same bucket, its sweep would delete the files that the original has added
 * since.
 */
import type { ObjectStore } from './object-store.ts';

/** The key of the object in the bucket. The object is outside the files' prefix, so no listing of files contains it. */
export const OWNER_OBJECT = 'lynxroom-owner';

/**
 * PostgreSQL's own identifier of a database. A restored copy has a different identifier from the original; a replica
 * has the same one.
 */
export const SELECT_OWNER = `
  SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || oid AS name
  FROM pg_database WHERE datname = current_database()`;

export const OTHER_OWNER =
  'The bucket belongs to another database. If no service uses that database any more, delete the object ' +
  `${OWNER_OBJECT} from the bucket (below S3_PREFIX). ` +
  "Otherwise use another bucket: two services would delete each other's files";

/** Resolves with true if the files belong to the database `name`. Writes this name to a store that has none. */
export async function claimStore({ owner }: Pick<ObjectStore, 'owner'>, name: string): Promise<boolean> {
  if (owner === undefined) return true;
  if ((await owner.read()) === null) await owner.write(name);
  // Another service may have written its own name in the meantime.
  return (await owner.read()) === name;
}

/** Resolves with true if the store has the name of another database. Writes nothing. */
export async function hasOtherOwner({ owner }: Pick<ObjectStore, 'owner'>, name: string): Promise<boolean> {
  const found = (await owner?.read()) ?? null;
  return found !== null && found !== name;
}
