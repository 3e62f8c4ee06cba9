/** Starts the whole service from a configuration, and gives back how to end it. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { buildApp } from './app.ts';
import { createRateLimits } from './auth/rate-limits.ts';
import type { Config } from './config.ts';
import type { Log } from './core/log.ts';
import { createEncryptionKey, createSealer, readEncryptionKey } from './core/sealing.ts';
import { systemClock } from './core/time.ts';
import { openDatabase } from './db/client.ts';
import { startEmbeddedPostgres } from './db/embedded.ts';
import { applyMigrations } from './db/migrate.ts';
import { startJobs } from './jobs/jobs.ts';
import { keepSecret } from './kept-secret.ts';
import { scheduleOf } from './schedule.ts';
import type { Services } from './services.ts';
import { createObjectStore, type StorageSettings } from './storage/create-store.ts';

/** A service that runs. `stop` drains requests, then jobs, then the database, and never rejects. */
export type RunningService = { url: string; services: Services; stop(): Promise<void> };

/** The key of our signed download URLs: from the environment, else made once and kept with the data. */
const signingSecretOf = async (config: Config): Promise<string> =>
  config.SIGNING_SECRET ?? keepSecret(config.DATA_DIR, 'signing-secret', () => randomBytes(32).toString('base64url'));

const KEY_FILE = 'encryption-key';

/**
 * The key of what is sealed in the database: from the environment, else made once and kept with the data. Throws where it
 * can be neither read nor kept: another one in its place would make what is sealed unreadable.
 */
const encryptionKeyOf = async (config: Config, log: Log): Promise<Uint8Array> => {
  if (config.ENCRYPTION_KEY) return config.ENCRYPTION_KEY;
  const path = join(config.DATA_DIR, KEY_FILE);
  const create = () => Buffer.from(createEncryptionKey()).toString('base64');
  const text = await keepSecret(config.DATA_DIR, KEY_FILE, create).catch((cause: unknown) => {
    throw new Error(`The encryption key cannot be kept in ${path}: set ENCRYPTION_KEY`, { cause });
  });
  const key = readEncryptionKey(text);
  if (key === null) throw new Error(`${path} is no encryption key: restore it, or set ENCRYPTION_KEY`);
  if (config.DATABASE_URL !== undefined)
    log.warn(
      { path },
      'ENCRYPTION_KEY is not set: webhook secrets are sealed under the key in DATA_DIR, and every server on this database needs the same one',
    );
  return key;
};

const storageOf = async (config: Config): Promise<StorageSettings> =>
  config.S3_BUCKET === undefined
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

const settingsOf = (config: Config): Services['settings'] => {
  const appOrigin = config.APP_URL ? [new URL(config.APP_URL).origin] : [];
  const corsOrigins = config.CORS_ORIGINS === '*' ? [] : config.CORS_ORIGINS;
  return {
    publicUrl: config.PUBLIC_URL ?? null,
    appUrl: config.APP_URL ?? null,
    trustedOrigins: [...appOrigin, ...corsOrigins],
    sessionDays: config.SESSION_DAYS,
  };
};

/** Where a browser on this machine reaches a server that listens on `host`. */
const urlOf = (host: string, port: number): string => {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
};

/** Steps to undo, last first. */
const createUndo = (log: FastifyBaseLogger) => {
  const steps: (() => Promise<unknown>)[] = [];
  let done: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    for (const step of steps.reverse()) {
      await step().catch((error: unknown) => log.error({ err: error }, 'A part of the service did not stop well'));
    }
  };
  return {
    push: (step: () => Promise<unknown>) => steps.push(step),
    run: () => {
      done ??= run();
      return done;
    },
  };
};

/** Starts everything; what was started is stopped again when a later step fails. */
export const startService = async (config: Config, logger: FastifyBaseLogger): Promise<RunningService> => {
  const undo = createUndo(logger);
  try {
    let connectionString = config.DATABASE_URL;
    const isEmbedded = connectionString === undefined;
    if (connectionString === undefined) {
      const postgres = await startEmbeddedPostgres({ dataDir: config.DATA_DIR, log: logger });
      undo.push(postgres.stop);
      connectionString = postgres.url;
    }
    await applyMigrations({ connectionString, log: logger });
    const db = openDatabase({
      connectionString,
      poolSize: config.DATABASE_POOL_SIZE,
      // The message alone: the error carries the whole connection, with a key to it.
      onError: ({ message }) => logger.error({ reason: message }, 'A database connection broke'),
    });
    undo.push(() => db.$disconnect());
    const { store, files } = await createObjectStore(await storageOf(config), systemClock);
    const limits = createRateLimits({
      signInPerEmail: config.RATE_LIMIT_SIGN_IN_PER_EMAIL,
      signInPerAddress: config.RATE_LIMIT_SIGN_IN_PER_ADDRESS,
      publicPerAddress: config.RATE_LIMIT_PUBLIC,
      perCredential: config.RATE_LIMIT_SIGNED_IN,
      exemptLoopback: isEmbedded,
    });
    const sealer = createSealer(await encryptionKeyOf(config, logger));
    const settings = settingsOf(config);
    const services: Services = { db, store, clock: systemClock, log: logger, limits, sealer, settings };
    const jobs = await startJobs({ connectionString, schedule: scheduleOf(services), log: logger });
    undo.push(jobs.stop);
    const app = await buildApp({
      services,
      logger,
      files,
      trustProxy: config.TRUST_PROXY,
      corsOrigins: config.CORS_ORIGINS,
    });
    undo.push(async () => {
      const impatience = setTimeout(() => app.server.closeAllConnections(), config.DRAIN_SECONDS * 1000);
      await app.close().finally(() => clearTimeout(impatience));
    });
    await app.listen({ host: config.HOST, port: config.PORT });
    const address = app.server.address();
    const port = typeof address === 'object' && address !== null ? address.port : config.PORT;
    return { url: urlOf(config.HOST, port), services, stop: undo.run };
  } catch (error) {
    await undo.run();
    throw error;
  }
};
