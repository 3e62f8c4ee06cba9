/** Everything that operations reach the world through. Production builds it in open-services.ts, tests build their own. */
import type { RateLimits } from './auth/rate-limits.ts';
import type { Log } from './core/log.ts';
import type { Sealer } from './core/sealing.ts';
import type { KeyedSemaphore } from './core/semaphore.ts';
import type { Clock } from './core/time.ts';
import type { Database } from './db/client.ts';
import type { AddressGuard } from './egress/address-guard.ts';
import type { ObjectStore } from './storage/object-store.ts';

export type Settings = {
  /** Where browsers reach this service, without a trailing slash; null: the origin of the request. */
  publicUrl: string | null;
  /** Where the frontend lives, for invite links; null: as publicUrl. */
  appUrl: string | null;
  /** Origins besides our own that may use the session cookie for writes. */
  trustedOrigins: readonly string[];
  sessionDays: number;
  /** How long a participant may be silent before they count as gone. */
  participantTimeoutSeconds: number;
  /** The largest recording that is taken, in bytes. */
  maxRecordingBytes: number;
  /** How long a recording may stay unfinished before it counts as failed. */
  recordingTimeoutHours: number;
  /** How long messages of webhooks and their attempts are kept. */
  webhookRetentionDays: number;
};

export type Services = {
  db: Database;
  store: ObjectStore;
  clock: Clock;
  log: Log;
  limits: RateLimits;
  /** For texts that the database must hold but not tell. */
  sealer: Sealer;
  /** Where webhooks may be sent. */
  addressGuard: AddressGuard;
  /** One upload at a time for each recording, by its id. */
  recordingUploads: KeyedSemaphore<number>;
  /** A few contact imports at a time, one for each workspace, by its id. */
  contactImports: KeyedSemaphore<number>;
  settings: Settings;
};
