/** Builds from a configuration what operations and background work reach the world through. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createRateLimits } from '../auth/rate-limits.ts';
import type { Log } from '../core/log.ts';
import { createEncryptionKey, createSealer, readEncryptionKey } from '../core/sealing.ts';
import { systemClock } from '../core/time.ts';
import { openDatabase } from '../db/client.ts';
import { startEmbeddedPostgres } from '../db/embedded.ts';
import { applyMigrations } from '../db/migrate.ts';
import { createAddressGuard, resolveHostFor } from '../egress/address-guard.ts';
import type { Services } from '../services.ts';
import { createObjectStore, type StorageSettings } from '../storage/create-store.ts';
import type { Undo } from './cleanup.ts';
import type { Config } from './config.ts';
import { loadOrCreateSecret, SecretFileError } from './secret-file.ts';

const KEY_FILE = 'encryption-key';

export type OpenedServices = {
  services: Services;
  connectionString: string;
  /** Serves the files of the disk store; null where S3 does. */
  files: Awaited<ReturnType<typeof createObjectStore>>['files'];
};

/** Opens everything, with a migrated database. What was opened is pushed onto `undo`. */
export async function openServices(config: Config, log: Log, undo: Undo): Promise<OpenedServices> {
  let connectionString = config.DATABASE_URL;
  const isEmbedded = connectionString === undefined;
  if (connectionString === undefined) {
    const postgres = await startEmbeddedPostgres({ dataDir: config.DATA_DIR, log });
    undo.push(postgres.stop);
    connectionString = postgres.url;
  }
  await applyMigrations({ connectionString, log });
  let isClosing = false;
  const db = openDatabase({
    connectionString,
    poolSize: config.DATABASE_POOL_SIZE,
    onError: ({ message }) => {
      // The pool says that it has ended before its connections are closed, and the embedded PostgreSQL then ends the rest.
      if (isClosing) return;
      // The message alone: the error carries the whole connection, with a key to it.
      log.error({ reason: message }, 'A database connection broke');
    },
  });
  undo.push(() => {
    isClosing = true;
    return db.$disconnect();
  });
  const { store, files } = await createObjectStore(await storageOf(config), systemClock);
  const limits = createRateLimits({
    signInPerEmail: config.RATE_LIMIT_SIGN_IN_PER_EMAIL,
    signInPerAddress: config.RATE_LIMIT_SIGN_IN_PER_ADDRESS,
    publicPerAddress: config.RATE_LIMIT_PUBLIC,
    perCredential: config.RATE_LIMIT_SIGNED_IN,
    exemptLoopback: isEmbedded,
  });
  const sealer = createSealer(await encryptionKeyOf(config, log));
  const policy = addressPolicyOf(config);
  const addressGuard = createAddressGuard({ policy, resolveHost: resolveHostFor(policy) });
  const settings = settingsOf(config);
  const services: Services = { db, store, clock: systemClock, log, limits, sealer, addressGuard, settings };
  return { services, connectionString, files };
}

async function storageOf(config: Config): Promise<StorageSettings> {
  return config.S3_BUCKET === undefined
    ? { kind: 'disk', root: join(config.DATA_DIR, 'files'), signingSecret: await signingSecretOf(config) }
    : {
        kind: 's3',
        bucket: config.S3_BUCKET,
        region: config.S3_REGION,
        endpoint: config.S3_ENDPOINT,
        publicEndpoint: config.S3_PUBLIC_ENDPOINT,
        accessKeyId: config.S3_ACCESS_KEY_ID,
        secretAccessKey: config.S3_SECRET_ACCESS_KEY,
        forcePathStyle: config.S3_FORCE_PATH_STYLE ?? config.S3_ENDPOINT !== undefined,
        prefix: config.S3_PREFIX,
      };
}

/** The key of our signed download URLs: from the environment, else made once and kept with the data. */
async function signingSecretOf(config: Config): Promise<string> {
  return (
    config.SIGNING_SECRET ??
    loadOrCreateSecret(config.DATA_DIR, 'signing-secret', () => randomBytes(32).toString('base64url'))
  );
}

/**
 * The key of what is sealed in the database: from the environment, else made once and kept with the data. Throws where it
 * can be neither read nor kept: another one in its place would make what is sealed unreadable.
 */
async function encryptionKeyOf(config: Config, log: Log): Promise<Uint8Array> {
  if (config.ENCRYPTION_KEY) return config.ENCRYPTION_KEY;
  const path = join(config.DATA_DIR, KEY_FILE);
  const create = () => Buffer.from(createEncryptionKey()).toString('base64');
  const text = await loadOrCreateSecret(config.DATA_DIR, KEY_FILE, create).catch((cause: unknown) => {
    throw new SecretFileError(`The encryption key cannot be kept in ${path}: set ENCRYPTION_KEY`, cause);
  });
  const key = readEncryptionKey(text);
  if (key === null) throw new SecretFileError(`${path} is no encryption key: restore it, or set ENCRYPTION_KEY`);
  if (config.DATABASE_URL !== undefined)
    log.warn(
      { path },
      'ENCRYPTION_KEY is not set: webhook secrets are sealed under the key in DATA_DIR, and every server on this database needs the same one',
    );
  return key;
}

/** Where webhooks may be sent: to this machine too where the service is being tried or developed. */
function addressPolicyOf({ WEBHOOK_ALLOW_PRIVATE: allowPrivate, DATABASE_URL }: Config) {
  if (allowPrivate !== undefined) return allowPrivate ? 'any' : 'public';
  return DATABASE_URL === undefined ? 'loopback' : 'public';
}

function settingsOf(config: Config): Services['settings'] {
  const appOrigin = config.APP_URL ? [new URL(config.APP_URL).origin] : [];
  const corsOrigins = config.CORS_ORIGINS === '*' ? [] : config.CORS_ORIGINS;
  return {
    publicUrl: config.PUBLIC_URL ?? null,
    appUrl: config.APP_URL ?? null,
    trustedOrigins: [...appOrigin, ...corsOrigins],
    sessionDays: config.SESSION_DAYS,
    participantTimeoutSeconds: config.PARTICIPANT_TIMEOUT_SECONDS,
    maxRecordingBytes: config.RECORDING_MAX_BYTES,
    recordingTimeoutHours: config.RECORDING_TIMEOUT_HOURS,
    webhookRetentionDays: config.WEBHOOK_RETENTION_DAYS,
  };
}
