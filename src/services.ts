/**
 * The services through which operations reach the outside world. Servers create them in runtime/create-services.ts,
 * tests in test/support/test-app.ts.
 */
import type { OpenidProviders } from './auth/openid-providers.ts';
import type { Passwords } from './auth/passwords.ts';
import type { RateLimits } from './auth/rate-limits.ts';
import type { ExportSlots } from './core/export-slots.ts';
import type { FairShares } from './core/fair-shares.ts';
import type { Limiter } from './core/limiter.ts';
import type { Log } from './core/log.ts';
import type { RegistrationPolicy } from './core/registration-policy.ts';
import type { Sealer } from './core/sealing.ts';
import type { Clock } from './core/time.ts';
import type { Database } from './db/client.ts';
import type { AddressGuard } from './egress/address-guard.ts';
import type { LiveUpdates } from './live-updates/live-updates.ts';
import type { Quotas } from './quotas/quotas.ts';
import type { CopySlots } from './storage/copy-slots.ts';
import type { ObjectStore } from './storage/object-store.ts';
import type { UploadSessions } from './storage/upload-sessions.ts';

/** A LiveKit server. `origin` has the scheme https, or http on this machine. */
export type LivekitServer = { origin: string; api_key: string; api_secret: string };

export type Settings = {
  /** The URL of this service without a trailing slash; null means the origin of each request. */
  publicUrl: string | null;
  /** The URL of the frontend, for links to invitations and booking pages; null means the URL of this service. */
  appUrl: string | null;
  /** Other origins that may write with the session cookie. */
  trustedOrigins: readonly string[];
  /** Whether pages of this machine that are served without TLS may embed rooms: in development. */
  embedsInHttp: boolean;
  /** Whom to tell about a vulnerability, as a URI; null if the operator names nobody. */
  securityContact: string | null;
  /** Who may create an account. */
  registration: RegistrationPolicy;
  /** Where registration is by invitation, an address in one of these domains also admits, once it is confirmed. */
  registrationDomains: readonly string[];
  /** What lets somebody create the first account where not everybody may; null if nothing does. */
  setupToken: string | null;
  /** Whether a person at this machine may create the first account without it. */
  startsLocally: boolean;
  sessionDays: number;
  /** A session that is not used for this many days ends. */
  sessionIdleDays: number;
  /** How long a sign-in counts as recent. Some operations need a recent sign-in. 0 means that every sign-in counts. */
  reauthenticationMinutes: number;
  /** The domain of passkeys; null means the host of the frontend. */
  passkeyDomain: string | null;
  /** How long a participant may go without calling `presence` before they are marked as left. */
  participantTimeoutSeconds: number;
  /** How long a download URL works. */
  downloadSeconds: number;
  /** The maximum size of a recording in bytes. */
  maxRecordingBytes: number;
  /** The maximum size in bytes of a library item that is uploaded in several requests. */
  maxItemBytes: number;
  /** How many bytes the guests of a room may record in 24 hours; 0 means no limit. */
  participantRecordingBytes: number;
  /** How long a recorder that sends its file while it records may be silent before the recording is finished. */
  recordingIdleSeconds: number;
  /** How long a recording with the status `started` may go without an update before it is marked as failed. */
  recordingTimeoutHours: number;
  /** How long webhook messages and their attempts are stored. */
  webhookRetentionDays: number;
  /** How long the entries of audit logs are stored; 0 means no limit. */
  auditRetentionDays: number;
  /** How long the event log is stored; 0 means no limit. */
  eventRetentionDays: number;
  /** How long visits that have ended are stored; 0 means no limit. */
  visitRetentionDays: number;
  /** How long the logs of accounts are stored. */
  accountLogDays: number;
  /** How long mail is listed after it has been sent, abandoned, or stored without a mail server. */
  mailRetentionDays: number;
  /** How many invitations a workspace, and a user, sends in a day. Further ones wait. */
  invitationsPerDay: number;
  /** Whether mail is sent. If not, it is only stored. */
  sendsMail: boolean;
  quotas: Quotas;
  /** How browsers exchange media in meetings. */
  meetings: {
    /** The STUN and TURN servers that every participant gets. */
    iceServers: readonly { urls: string[]; username?: string; credential?: string }[];
    /** The TURN servers that accept credentials for a limited time; null if there are none. */
    turn: { urls: readonly string[]; secret: string; lifetimeSeconds: number } | null;
    /** How many pages of a room may exchange media with each other. */
    maxParticipants: number;
    /** Whether browsers connect only through TURN servers, in every room. */
    isRelayOnly: boolean;
    /** Whether there is a TURN server. */
    hasTurn: boolean;
    /** The LiveKit server that carries the media of workspaces without a connection; null if there is none. */
    livekit: LivekitServer | null;
  };
  /** How many meetings with one host can be booked in 24 hours, from one network and in total; 0 means no limit. */
  maxBookingsPerNetwork: number;
  maxBookingsPerHost: number;
};

/** Where in the bucket the LiveKit server of the operator writes recordings, with credentials for that alone. */
export type EgressTarget = {
  bucket: string;
  region: string;
  /** As the LiveKit server reaches it; undefined for AWS. */
  endpoint?: string;
  forcePathStyle: boolean;
  accessKeyId: string;
  secretAccessKey: string;
  /** A directory without a slash at its end. */
  prefix: string;
};

/** `files` are those below the prefix. */
export type LivekitEgress = { target: EgressTarget; files: ObjectStore };

/** The pages of meetings whose streams this process sends. */
export type OpenPages = {
  /** Keeps a page alive until the returned function is called. After that it is still a connection for 10 seconds. */
  open(page: { workspaceId: number; participantId: number; connectionId: string }): () => void;
  /** Resolves once the database knows which streams were closed. */
  stop(): Promise<void>;
};

export type Services = {
  db: Database;
  store: ObjectStore;
  /** The copies within the store that this process makes. */
  copies: CopySlots;
  /** Null if the LiveKit server of the operator does not record. */
  livekitEgress: LivekitEgress | null;
  clock: Clock;
  log: Log;
  limits: RateLimits;
  /** Shares this process between the owners of calls. */
  shares: FairShares;
  /** The exports in progress in this process. */
  exports: ExportSlots;
  passwords: Passwords;
  openid: OpenidProviders;
  /** Seals secrets that the database stores. */
  sealer: Sealer;
  /** Decides which addresses webhooks may be sent to and recordings copied from. */
  addressGuard: AddressGuard;
  /** Limits the uploads of each recording, by its id, to one at a time. */
  recordingUploads: Limiter<number>;
  /** The uploads that this process receives in several requests. */
  uploads: UploadSessions;
  /** Limits contact imports to a few at a time, and to one for each workspace. */
  contactImports: {
    run<Result>(
      by: { userId: number; workspaceId: number },
      file: AsyncIterable<Buffer>,
      work: (file: AsyncIterable<Buffer>) => Promise<Result>,
    ): Promise<Result>;
  };
  live: LiveUpdates;
  pages: OpenPages;
  settings: Settings;
};
