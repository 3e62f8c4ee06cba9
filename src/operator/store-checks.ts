/** What `lynxroom doctor` and `lynxroom restore` check about the files and the keys. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupError } from '../backup/manifest.ts';
import { ifExists } from '../core/files.ts';
import type { Log } from '../core/log.ts';
import { keyIdOf, type SealPurpose } from '../core/sealing.ts';
import type { Clock } from '../core/time.ts';
import { type Connection, connect } from '../db/connect.ts';
import { onlyRow } from '../db/only-row.ts';
import type { Config } from '../runtime/config.ts';
import { toS3Settings } from '../runtime/create-services.ts';
import { encryptionKeyPath, readSealer } from '../runtime/secrets.ts';
import { createObjectStore } from '../storage/create-store.ts';
import { StorageUnavailableError } from '../storage/object-store.ts';
import { hasOtherOwner, OTHER_OWNER, SELECT_OWNER } from '../storage/store-owner.ts';
import type { Finding } from './finding.ts';
import { filesRootOf } from './settings.ts';

const check = 'store';

/** Only signed URLs depend on the time, and this command creates none. */
const noClock: Clock = { now: () => new Date(0) };

/** Throws StorageUnavailableError if the store does not respond, or cannot be written to. */
export async function checkStore(client: Connection, config: Config): Promise<Finding> {
  const { rows } = (await hasTable(client, 'object_store_id'))
    ? await client.query<{ store: string }>('SELECT store FROM object_store_id')
    : { rows: [] };
  const bound = rows[0]?.store;
  const s3 = toS3Settings(config);
  const root = filesRootOf(config);
  // The store needs a signing secret only for URLs, which are not needed here.
  const settings = s3 ?? { kind: 'disk' as const, root: root ?? '', signingSecret: 'not used by this command' };
  if (root !== null && !existsSync(root)) {
    if (bound === undefined)
      return { check, state: 'warning', detail: `The first start of the service creates ${root}` };
    return { check, state: 'problem', detail: `${root} is missing: mount its disk, restore it, or set DATA_DIR` };
  }
  const found = s3 ? `s3:${s3.bucket}/${s3.prefix ?? ''}` : await readStoreId(root ?? '');
  if (bound !== undefined && bound !== found) {
    const settingsLeadTo = `but the settings point to ${found ?? root}`;
    const guide = '"Moving files" in docs/storage.md';
    const detail = `The files of this database are in ${bound}, ${settingsLeadTo}: see ${guide}`;
    return { check, state: 'problem', detail };
  }
  const { store } = await createObjectStore(settings, noClock);
  await store.checkReady();
  if (store.owner !== undefined && (await hasOtherOwner(store, await readOwnerName(client))))
    return { check, state: 'problem', detail: OTHER_OWNER };
  return { check, state: 'ok', detail: s3 ? `The bucket ${s3.bucket} responds` : `${root} can be written to` };
}

/** Throws BackupError if the files are in a bucket that another database uses. */
export async function requireOwnBucket(config: Config, connectionString: string, log: Log): Promise<void> {
  const s3 = toS3Settings(config);
  if (s3 === null) return;
  const { store } = await createObjectStore(s3, noClock);
  const client = await connect(connectionString, 'restore', log);
  try {
    if (await hasOtherOwner(store, await readOwnerName(client))) throw new BackupError(OTHER_OWNER);
  } catch (error) {
    if (!(error instanceof StorageUnavailableError)) throw error;
    // A warning is enough, because the service also refuses to sweep the bucket of another database.
    log.warn(
      { reason: error.message },
      'The bucket does not respond, so it is unknown whether another service uses it',
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The name with which this database marks its bucket. */
async function readOwnerName(client: Connection): Promise<string> {
  const { rows } = await client.query<{ name: string }>(SELECT_OWNER);
  return onlyRow(rows).name;
}

async function readStoreId(root: string): Promise<string | undefined> {
  return (await ifExists(readFile(join(root, 'store-id'), 'utf8')))?.trim();
}

/** Opens a secret of each kind with the keys, so that a wrong key is noticed. */
export async function checkKeys(client: Connection, config: Config): Promise<Finding> {
  const path = encryptionKeyPath(config);
  const sealer = await readSealer(config);
  const sealed = await readSealed(client);
  if (sealer === null) {
    if (sealed.length > 0) return problem(`The encryption key is missing: restore ${path}, or set ENCRYPTION_KEY`);
    return { check: 'keys', state: 'warning', detail: 'The first start of the service creates an encryption key' };
  }
  for (const { bytes, workspaceId, purpose } of sealed) {
    try {
      sealer.open(bytes, { workspaceId, purpose });
    } catch {
      const id = keyIdOf(bytes);
      if (id !== null && !sealer.keyIds.includes(id))
        return problem(`A ${purpose} is sealed with the key ${id}: list that key in ENCRYPTION_KEY_PREVIOUS`);
      return problem(`The encryption key cannot open a ${purpose}: set ENCRYPTION_KEY to the key that sealed it`);
    }
  }
  if (config.ENCRYPTION_KEY === undefined && config.DATABASE_URL !== undefined) {
    const detail = `ENCRYPTION_KEY is not set: every server and worker needs the key in ${path}`;
    return { check: 'keys', state: 'warning', detail };
  }
  if (sealer.keyIds.length > 1) {
    const detail = 'More than one key is configured: `lynxroom keys` says when the previous one can be removed';
    return { check: 'keys', state: 'ok', detail };
  }
  return { check: 'keys', state: 'ok', detail: sealed.length === 0 ? 'Present' : 'The key opens the stored secrets' };
}

function problem(detail: string): Finding {
  return { check: 'keys', state: 'problem', detail };
}

type Sealed = { bytes: Buffer; workspaceId: number; purpose: SealPurpose };

/** The newest secret of each kind. */
async function readSealed(client: Connection): Promise<Sealed[]> {
  if (!(await hasTable(client, 'meeting_connections'))) return [];
  const { rows } = await client.query<Sealed>(
    `(SELECT sealed_secret AS bytes, workspace_id AS "workspaceId", 'webhook secret' AS purpose
      FROM webhooks ORDER BY created_at DESC LIMIT 1)
     UNION ALL
     (SELECT sealed_credentials, workspace_id, 'meeting credentials'
      FROM meeting_connections ORDER BY created_at DESC LIMIT 1)`,
  );
  return rows;
}

async function hasTable(client: Connection, name: string): Promise<boolean> {
  const { rows } = await client.query<{ found: string | null }>('SELECT to_regclass($1)::text AS found', [
    `public.${name}`,
  ]);
  return rows[0]?.found != null;
}
