/** Creates, from a configuration, the services that operations and background work use. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createOpenidProviders } from '../auth/openid-providers.ts';
import { countPasswordSlots, createPasswords } from '../auth/passwords.ts';
import { createRateLimits } from '../auth/rate-limits.ts';
import { createSharedCounts } from '../auth/shared-counts.ts';
import { createExportSlots } from '../core/export-slots.ts';
import { createFairShares } from '../core/fair-shares.ts';
import type { Log } from '../core/log.ts';
import type { Clock } from '../core/time.ts';
import { readDatabaseTime, startDatabaseClock } from '../db/database-clock.ts';
import { createAddressGuard, resolveHostFor } from '../egress/address-guard.ts';
import { createImportLimiter } from '../features/contacts/import-limiter.ts';
import { createOpenPages } from '../features/peers/open-pages.ts';
import { createUploadLock } from '../features/recordings/upload-lock.ts';
import { createLiveUpdates, defaultStreamLimits } from '../live-updates/live-updates.ts';
import type { Services } from '../services.ts';
import { createCopySlots } from '../storage/copy-slots.ts';
import { createObjectStore, type Storage, type StorageSettings } from '../storage/create-store.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { bindStore } from '../storage/store-id.ts';
import { createUploadSessions } from '../storage/upload-sessions.ts';
import { type Config, isProduction } from './config.ts';
import { createLivekitEgress } from './egress-settings.ts';
import type { StopInTime } from './lifecycle.ts';
import { localAccessOf } from './local-access.ts';
import { hasTurn } from './meeting-settings.ts';
import { openMigratedDatabase } from './open-migrated-database.ts';
import { readOrCreateSealer, readOrCreateSigningSecrets } from './secrets.ts';

export type CreatedServices = {
  services: Services;
  /** The connection string for long-lived sessions: those of the job queue and of LISTEN. */
  directUrl: string;
  /** The files of the disk store, which the server serves itself; undefined with S3. */
  files: Storage['files'];
};

/**
 * Creates all services and migrates the database. Without DATABASE_URL it starts the embedded PostgreSQL. `cleanup`
 * closes them. `machineClock` is the clock of this machine. It does not affect the time of the service; a large
 * difference from the clock of the database is logged.
 */
export async function createServices(
  config: Config,
  log: Log,
  cleanup: AsyncDisposableStack,
  stopInTime: StopInTime,
  machineClock?: Clock,
): Promise<CreatedServices> {
  const { db, directUrl } = await openMigratedDatabase(config, log, cleanup, stopInTime);
  const clock = await startDatabaseClock({ readTime: () => readDatabaseTime(db), log, machineClock });
  cleanup.defer(stopInTime('clock', clock.stop));
  const storage = await readStorageSettings(config);
  const { store, files } = await createObjectStore(storage, clock);
  if (storage.kind === 's3') void reportUnreachableStore(store, storage, log);
  const sealer = await readOrCreateSealer(config, log);
  await bindStore(db, storage);
  const { exemptLoopback, addressPolicy } = localAccessOf(config);
  const counts = createSharedCounts({ db, log });
  cleanup.defer(stopInTime('rate limits', counts.stop));
  const limits = createRateLimits(
    {
      signInPerEmail: config.RATE_LIMIT_SIGN_IN_PER_EMAIL,
      signInPerAddress: config.RATE_LIMIT_SIGN_IN_PER_ADDRESS,
      publicPerAddress: config.RATE_LIMIT_PUBLIC,
      perUser: config.RATE_LIMIT_SIGNED_IN,
      exportPerUser: config.RATE_LIMIT_EXPORTS,
      exemptLoopback,
    },
    counts,
  );
  const addressGuard = createAddressGuard({ policy: addressPolicy, resolveHost: resolveHostFor(addressPolicy) });
  const settings = toSettings(config);
  const live = createLiveUpdates({
    db,
    clock,
    log,
    directUrl,
    limits: { ...defaultStreamLimits, perOwner: config.LIVE_STREAMS_PER_USER, perProcess: config.LIVE_STREAMS },
  });
  const pages = createOpenPages({ db, clock, log });
  cleanup.defer(stopInTime('pages of meetings', pages.stop));
  cleanup.defer(stopInTime('live updates', live.stop));
  const services: Services = {
    db,
    store,
    livekitEgress: await createLivekitEgress(config, storage, clock),
    clock,
    log,
    limits,
    shares: createFairShares(),
    exports: createExportSlots(),
    copies: createCopySlots(),
    passwords: createPasswords(countPasswordSlots(availableParallelism(), config.UV_THREADPOOL_SIZE)),
    openid: createOpenidProviders(config.openidProviders, log),
    sealer,
    addressGuard,
    recordingUploads: createUploadLock(),
    uploads: createUploadSessions(),
    contactImports: createImportLimiter(),
    live,
    pages,
    settings,
  };
  return { services, directUrl, files };
}

async function readStorageSettings(config: Config): Promise<StorageSettings> {
  const s3 = toS3Settings(config);
  if (s3 !== null) return s3;
  const [signingSecret, ...previousSigningSecrets] = await readOrCreateSigningSecrets(config);
  return { kind: 'disk', root: join(config.DATA_DIR, 'files'), signingSecret, previousSigningSecrets };
}

/** Returns the settings of S3, or null if the files are on disk. */
export function toS3Settings(config: Config): (StorageSettings & { kind: 's3' }) | null {
  if (config.S3_BUCKET === undefined) return null;
  return {
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

/**
 * Returns the origins of downloads, as a browser sees them, besides the origin of the request. S3 serves a bucket at a
 * separate host, unless its name has a dot.
 */
export function storageOriginsOf(config: Config): string[] {
  const s3 = toS3Settings(config);
  if (s3 === null) return config.PUBLIC_URL === undefined ? [] : [config.PUBLIC_URL];
  const { protocol, host } = new URL(s3.publicEndpoint ?? s3.endpoint ?? `https://s3.${s3.region}.amazonaws.com`);
  const origin = `${protocol}//${host}`;
  return s3.forcePathStyle ? [origin] : [origin, `${protocol}//${s3.bucket}.${host}`];
}

/** Logs a warning if the bucket does not respond. The service starts anyway, because the other operations work. */
async function reportUnreachableStore(
  store: ObjectStore,
  { bucket, endpoint, region }: Extract<StorageSettings, { kind: 's3' }>,
  log: Log,
): Promise<void> {
  await store.checkReady().catch((error: unknown) => {
    const reason = describeFailure(error);
    log.warn({ bucket, endpoint, region, reason }, 'The object store is unavailable: uploads and downloads fail');
  });
}

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The error says that the store is unavailable, and its cause says why.
  const cause = error.cause instanceof Error ? error.cause : error;
  return `${cause.name}: ${cause.message}`;
}

function toSettings(config: Config): Services['settings'] {
  const appOrigin = config.APP_URL ? [new URL(config.APP_URL).origin] : [];
  const { CORS_ORIGINS: named = [] } = config;
  const corsOrigins = named === '*' ? [] : named;
  return {
    publicUrl: config.PUBLIC_URL ?? null,
    appUrl: config.APP_URL ?? null,
    trustedOrigins: [...appOrigin, ...corsOrigins],
    embedsInHttp: !isProduction(config),
    securityContact: config.SECURITY_CONTACT ?? null,
    registration: config.REGISTRATION,
    registrationDomains: config.REGISTRATION_DOMAINS,
    setupToken: config.SETUP_TOKEN ?? null,
    startsLocally: localAccessOf(config).startsLocally,
    sessionDays: config.SESSION_DAYS,
    sessionIdleDays: config.SESSION_IDLE_DAYS ?? config.SESSION_DAYS,
    reauthenticationMinutes: config.REAUTHENTICATION_MINUTES,
    passkeyDomain: config.PASSKEY_DOMAIN ?? null,
    participantTimeoutSeconds: config.PARTICIPANT_TIMEOUT_SECONDS,
    downloadSeconds: config.DOWNLOAD_URL_SECONDS,
    maxRecordingBytes: config.RECORDING_MAX_BYTES,
    maxItemBytes: config.LIBRARY_MAX_BYTES,
    participantRecordingBytes: config.PARTICIPANT_RECORDING_BYTES,
    recordingIdleSeconds: config.RECORDING_IDLE_SECONDS,
    recordingTimeoutHours: config.RECORDING_TIMEOUT_HOURS,
    webhookRetentionDays: config.WEBHOOK_RETENTION_DAYS,
    auditRetentionDays: config.AUDIT_RETENTION_DAYS,
    eventRetentionDays: config.EVENT_RETENTION_DAYS,
    visitRetentionDays: config.VISIT_RETENTION_DAYS,
    accountLogDays: config.ACCOUNT_LOG_DAYS,
    mailRetentionDays: config.MAIL_RETENTION_DAYS,
    invitationsPerDay: config.INVITATIONS_PER_DAY,
    sendsMail: config.SMTP_URL !== undefined,
    quotas: {
      workspaces: config.QUOTA_WORKSPACES,
      members: config.QUOTA_MEMBERS,
      rooms: config.QUOTA_ROOMS,
      labels: config.QUOTA_LABELS,
      items: config.QUOTA_ITEMS,
      bytes: config.QUOTA_BYTES,
      contacts: config.QUOTA_CONTACTS,
      apiKeys: config.QUOTA_API_KEYS,
      webhooks: config.QUOTA_WEBHOOKS,
      connections: config.QUOTA_CONNECTIONS,
    },
    meetings: {
      iceServers: config.ICE_SERVERS ?? [],
      turn:
        config.TURN_URLS === undefined || config.TURN_SECRET === undefined
          ? null
          : {
              urls: config.TURN_URLS,
              secret: config.TURN_SECRET,
              lifetimeSeconds: config.TURN_CREDENTIAL_SECONDS,
            },
      maxParticipants: config.MESH_MAX_PARTICIPANTS,
      isRelayOnly: config.MESH_RELAY_ONLY,
      hasTurn: hasTurn(config),
      livekit: toLivekit(config),
    },
    maxBookingsPerNetwork: config.BOOKINGS_PER_NETWORK,
    maxBookingsPerHost: config.BOOKINGS_PER_HOST,
  };
}

function toLivekit(config: Config): Services['settings']['meetings']['livekit'] {
  const { LIVEKIT_URL: origin, LIVEKIT_API_KEY: key, LIVEKIT_API_SECRET: secret } = config;
  if (origin === undefined || key === undefined || secret === undefined) return null;
  return { origin, api_key: key, api_secret: secret };
}
