/** The real application on a free port, with its own database and directory. */

import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hash, verify } from '@node-rs/argon2';
import pg from 'pg';
import pino from 'pino';
import { inject } from 'vitest';
import { createOpenidProviders, type OpenidProvider } from '../../src/auth/openid-providers.ts';
import { createPasswords, type Passwords } from '../../src/auth/passwords.ts';
import { createRateLimits, type RateLimitSettings } from '../../src/auth/rate-limits.ts';
import { createSharedCounts } from '../../src/auth/shared-counts.ts';
import { createExportSlots } from '../../src/core/export-slots.ts';
import { createFairShares } from '../../src/core/fair-shares.ts';
import { logSerializers, withCallIds } from '../../src/core/log.ts';
import { createEncryptionKey, createSealer, type Sealer } from '../../src/core/sealing.ts';
import type { Clock } from '../../src/core/time.ts';
import { type Database, openDatabase } from '../../src/db/client.ts';
import { createAddressGuard, type ResolveHost } from '../../src/egress/address-guard.ts';
import { createImportLimiter } from '../../src/features/contacts/import-limiter.ts';
import { createOpenPages } from '../../src/features/peers/open-pages.ts';
import { createUploadLock } from '../../src/features/recordings/upload-lock.ts';
import type { BodyBounds } from '../../src/http/body-admission.ts';
import { createLiveUpdates, defaultStreamLimits } from '../../src/live-updates/live-updates.ts';
import type { StreamLimits } from '../../src/live-updates/open-streams.ts';
import type { Metrics } from '../../src/metrics/metrics.ts';
import { defaultQuotas } from '../../src/quotas/quotas.ts';
import { type AppOptions, buildApp } from '../../src/runtime/app.ts';
import type { Services } from '../../src/services.ts';
import { createCopySlots } from '../../src/storage/copy-slots.ts';
import { createDiskStore } from '../../src/storage/disk-store.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { createUploadSessions } from '../../src/storage/upload-sessions.ts';
import { checkEvents } from './check-events.ts';
import { createHttp, type Http } from './http.ts';

/** A clock that a test can advance. */
export type TestClock = Clock & { advance(ms: number): void };

function createClock(frozenAt?: Date): TestClock {
  let offset = 0;
  return {
    now: () => new Date((frozenAt?.getTime() ?? Date.now()) + offset),
    advance: (ms) => {
      offset += ms;
    },
  };
}

export type TestApp = {
  url: string;
  /** The listening server, for tests that watch its connections. */
  server: Server;
  http: Http;
  services: Services;
  clock: TestClock;
  /** Null unless `hasMetrics` is set. */
  metrics: Metrics | null;
  /** The log so far, one object per line. */
  logLines: Record<string, unknown>[];
  /** The directory of the disk store. */
  filesDir: string;
  databaseUrl: string;
  /** The connection string of a superuser. */
  superuserUrl: string;
  close(): Promise<void>;
};

export type TestAppOptions = {
  limits?: Partial<RateLimitSettings>;
  settings?: Partial<Services['settings']>;
  /** Wraps the disk store, to make it fail. */
  wrapStore?: (store: ObjectStore) => ObjectStore;
  /** The LiveKit server of the service; none by default. */
  livekitEgress?: Services['livekitEgress'];
  /** Stops the clock at this time until the test advances it, so that two apps produce the same timestamps. */
  frozenAt?: Date;
  /** Returns the URL through which the application reaches its database. */
  connectVia?: (databaseUrl: string) => Promise<string>;
  /** Options of `openDatabase`. Its time limits are a minute by default. */
  database?: Partial<Parameters<typeof openDatabase>[0]>;
  /** Another app, whose database this app uses too. The other app drops the database. */
  sharedDatabase?: TestApp;
  /** The minimum free disk space, in bytes. Uploads are rejected while less is free. */
  reserveBytes?: number;
  /** Wraps the database, to count its queries. */
  wrapDatabase?: (db: Database) => Database;
  /** Replaces the password hashing. The default hashes at most two passwords at a time, with the least cost. */
  passwords?: Passwords;
  /** The OpenID providers; none by default. */
  openidProviders?: OpenidProvider[];
  /** What seals secrets in the database. By default it has a key of its own. */
  sealer?: Sealer;
  /** The proxies whose forwarding headers are trusted; none by default. */
  trustProxy?: string[];
  /** Resolves the host names of webhook URLs. */
  resolveHost?: ResolveHost;
  /** The origins whose pages may read responses; all by default. */
  corsOrigins?: string[];
  /** Whether the app has the page /dev/mail. */
  showsMail?: boolean;
  /** Whether links of this machine sign in to the demo account. */
  signsInLocally?: boolean;
  /** The directory of a built console; none by default. */
  consoleDir?: string;
  /** Replaces bounds on the bodies that the app reads into memory. */
  bodyBounds?: Partial<BodyBounds>;
  /** Limits the connections of each network; no limit by default. */
  connections?: AppOptions['connections'];
  /** The origins of downloads from another server. */
  storageOrigins?: string[];
  /** How many streams may be open, and how often the rights of their readers are looked at again. */
  streamLimits?: Partial<StreamLimits>;
  /** The connection string for notifications. Default: that of the database. */
  directUrl?: string;
  /** Whether the test inserts events of its own, which need not match their schemas: `close` checks all others. */
  hasOwnEvents?: boolean;
  /** Whether the app has metrics, as a server with METRICS_PORT does. */
  hasMetrics?: boolean;
};

/** Resolves every name under example.com and example.org to one public address. */
export const resolveTestHost: ResolveHost = async (hostname) => {
  if (hostname === 'localhost') return [{ address: '127.0.0.1', family: 4 }];
  if (/(?:^|\.)example\.(?:com|org)$/.test(hostname)) return [{ address: '93.184.216.34', family: 4 }];
  throw new Error(`getaddrinfo ENOTFOUND ${hostname}`);
};

const noLimits: RateLimitSettings = {
  signInPerEmail: 0,
  signInPerAddress: 0,
  publicPerAddress: 0,
  perUser: 0,
  exportPerUser: 0,
  exemptLoopback: false,
};

const LEAST_COST = { memoryCost: 8, timeCost: 1, parallelism: 1 };

/** Most tests register users. With the parameters of the service, each hash takes 30 ms. */
const cheapArgon2 = { hash: (password: string | Uint8Array) => hash(password, LEAST_COST), verify };

let databases = 0;

export type TestDatabase = {
  /** The connection string of the service's role, which owns the database and is not a superuser. */
  url: string;
  superuserUrl: string;
  drop(): Promise<void>;
};

/** Clones the template database, or creates what `source` says. `drop` ends connections that a test left open. */
export async function createDatabase(source = `template ${inject('templateDatabase')}`): Promise<TestDatabase> {
  const urlOf = (server: string): string => Object.assign(new URL(server), { pathname: `/${name}` }).href;
  databases += 1;
  const name = `test_${process.pid}_${databases}`;
  const role = new URL(inject('roleUrl')).username;
  await administer(`create database ${name} ${source} owner ${role} strategy file_copy`);
  return {
    url: urlOf(inject('roleUrl')),
    superuserUrl: urlOf(inject('postgresUrl')),
    drop: () => administer(`drop database ${name} with (force)`),
  };
}

/** The connections of a superuser, which all files of this process share. */
let administrators: pg.Pool | undefined;

async function administer(sql: string): Promise<void> {
  administrators ??= openAdministrators();
  await administrators.query(sql);
}

function openAdministrators(): pg.Pool {
  const pool = new pg.Pool({ connectionString: inject('postgresUrl'), max: 4, allowExitOnIdle: true });
  // PostgreSQL ends idle connections when it stops, after the last test.
  return pool.on('error', () => {});
}

export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = options.sharedDatabase
    ? {
        url: options.sharedDatabase.databaseUrl,
        superuserUrl: options.sharedDatabase.superuserUrl,
        drop: async () => {},
      }
    : await createDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'lynxroom-files-'));
  const filesDir = join(dataDir, 'files');
  const clock = createClock(options.frozenAt);
  const logLines: Record<string, unknown>[] = [];
  const logger = pino(
    { level: 'trace', serializers: logSerializers },
    { write: (line: string) => logLines.push(JSON.parse(line)) },
  );
  const db = openDatabase({
    connectionString: (await options.connectVia?.(database.url)) ?? database.url,
    poolSize: 10,
    // With the default, a busy machine answers many concurrent requests with 503.
    poolTimeoutMs: 60_000,
    statementTimeoutMs: 60_000,
    requestTimeoutMs: 60_000,
    ...options.database,
    onError: (error) => logger.error({ err: error }, 'A database connection was lost'),
  });
  const counts = createSharedCounts({ db, log: logger });
  const limits = createRateLimits({ ...noLimits, ...options.limits }, counts);
  const disk = await createDiskStore({
    root: filesDir,
    signingSecret: 'a secret for tests only',
    clock,
    ...(options.reserveBytes !== undefined && { reserveBytes: options.reserveBytes }),
  });
  const plainServices: Services = {
    db: options.wrapDatabase?.(db) ?? db,
    store: options.wrapStore?.(disk) ?? disk,
    livekitEgress: options.livekitEgress ?? null,
    clock,
    log: withCallIds(logger),
    passwords: options.passwords ?? createPasswords(2, cheapArgon2),
    openid: createOpenidProviders(options.openidProviders ?? [], withCallIds(logger)),
    limits,
    shares: createFairShares(),
    exports: createExportSlots(),
    copies: createCopySlots(),
    sealer: options.sealer ?? createSealer(createEncryptionKey()),
    addressGuard: createAddressGuard({ policy: 'loopback', resolveHost: options.resolveHost ?? resolveTestHost }),
    recordingUploads: createUploadLock(),
    uploads: createUploadSessions(),
    contactImports: createImportLimiter(),
    live: createLiveUpdates({
      db,
      clock,
      log: withCallIds(logger),
      directUrl: options.directUrl ?? database.url,
      limits: { ...defaultStreamLimits, ...options.streamLimits },
    }),
    pages: createOpenPages({ db, clock, log: withCallIds(logger) }),
    settings: {
      publicUrl: null,
      appUrl: null,
      trustedOrigins: [],
      embedsInHttp: true,
      securityContact: null,
      registration: 'open',
      registrationDomains: [],
      setupToken: null,
      startsLocally: true,
      sessionDays: 30,
      sessionIdleDays: options.settings?.sessionDays ?? 30,
      reauthenticationMinutes: 60,
      passkeyDomain: null,
      participantTimeoutSeconds: 300,
      sendsMail: true,
      downloadSeconds: 900,
      maxRecordingBytes: 2_147_483_648,
      maxItemBytes: 104_857_600,
      participantRecordingBytes: 8_589_934_592,
      recordingIdleSeconds: 900,
      recordingTimeoutHours: 24,
      webhookRetentionDays: 30,
      auditRetentionDays: 365,
      eventRetentionDays: 0,
      visitRetentionDays: 0,
      accountLogDays: 180,
      mailRetentionDays: 7,
      invitationsPerDay: 200,
      quotas: defaultQuotas,
      maxBookingsPerNetwork: 0,
      maxBookingsPerHost: 0,
      meetings: { iceServers: [], turn: null, maxParticipants: 8, isRelayOnly: false, hasTurn: false, livekit: null },
      ...options.settings,
    },
  };
  const metrics = options.hasMetrics
    ? (await import('../../src/metrics/metrics.ts')).createMetrics(plainServices, 'server')
    : null;
  const services = metrics?.services ?? plainServices;
  const app = await buildApp({
    services,
    onCall: metrics?.onCall,
    logger,
    files: disk,
    trustProxy: options.trustProxy ?? false,
    showsMail: options.showsMail ?? false,
    signsInLocally: options.signsInLocally ?? false,
    corsOrigins: options.corsOrigins ?? '*',
    consoleDir: options.consoleDir,
    storageOrigins: options.storageOrigins,
    bodyBounds: options.bodyBounds,
    connections: options.connections,
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    server: app.server,
    http: createHttp(url),
    services,
    metrics,
    clock,
    logLines,
    filesDir,
    databaseUrl: database.url,
    superuserUrl: database.superuserUrl,
    async close() {
      app.server.closeAllConnections();
      await app.close();
      metrics?.stop();
      await plainServices.live.stop();
      await plainServices.pages.stop();
      await counts.stop();
      await db.$disconnect();
      try {
        if (!options.sharedDatabase && !options.hasOwnEvents) await checkEvents(database.superuserUrl);
      } finally {
        await database.drop();
        await rm(dataDir, { recursive: true, force: true });
      }
    },
  };
}
