/**
 * Signed callbacks of the Vonage Video API (OpenTok): archive status and session monitoring.
 * https://developer.vonage.com/en/video/guides/secure-callbacks,
 * https://developer.vonage.com/en/video/guides/archiving/overview,
 * https://developer.vonage.com/en/video/guides/session-monitoring/overview
 */
import { z } from 'zod';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../core/time.ts';
import { type Callback, type ProviderAdapter, UnverifiedCallback } from './provider-adapter.ts';
import type { ProviderEvent, RoomReference } from './provider-event.ts';
import {
  cleanBytes,
  cleanEmail,
  cleanName,
  cleanReason,
  cleanReference,
  cleanSeconds,
  cleanTitle,
  cleanToken,
  providerId,
  readCredentials,
  readCustomData,
  readFileUrl,
  readJson,
  readShape,
  readTime,
} from './read.ts';
import { assertBodyDigest, sha256, verifyToken } from './signatures.ts';

const secret = z.string().min(8).max(500);
const account = z.string().min(1).max(200);

export const VonageCredentials = z.object({
  signature_secret: secret.describe('Signature secret of the secure callbacks'),
  session_signature_secret: secret.describe('Signature secret of session monitoring, if it has its own').optional(),
  api_key: account.describe('API key; if set, only callbacks from this account are accepted').optional(),
  application_id: account
    .describe('Application ID; if set, only callbacks from this application are accepted')
    .optional(),
});
export type VonageCredentials = z.infer<typeof VonageCredentials>;

/**
 * Vonage retries a callback for 24 hours. Its documentation does not say whether each attempt is signed anew, so a
 * signature is accepted for 24 hours. A replay within that time changes nothing, because the same body has the same
 * dedupe key.
 */
const MAX_RETRY_SECONDS = DAY_MS / SECOND_MS;
const CLOCK_TOLERANCE_SECONDS = (5 * MINUTE_MS) / SECOND_MS;
/** How long the URL of an available archive is valid. */
const URL_LIFETIME_MS = 10 * MINUTE_MS;

const unknown = z.unknown().optional();
const Event = z.object({ event: z.string() });

// The `unknown` fields are cleaned below, so that an invalid duration does not cause the whole callback to be rejected.
const Archive = z.object({
  id: providerId('id'),
  sessionId: providerId('sessionId'),
  status: z.string(),
  createdAt: unknown,
  name: unknown,
  reason: unknown,
  duration: unknown,
  size: unknown,
  url: unknown,
});

const Session = z.object({ sessionId: providerId('sessionId'), timestamp: unknown });
const Connection = Session.extend({
  connection: z.object({ id: providerId('connection.id'), data: unknown }),
});

/** Callbacks have no id, so the hash of the body identifies them. Every change to an archive changes the body. */
export const vonage: ProviderAdapter = {
  async readAndVerify(callback, credentials, now) {
    const sentAt = await verify(callback, readCredentials(VonageCredentials, credentials), now);
    return { dedupeKey: sha256(callback.body, 'hex'), events: readEvents(readJson(callback.body), sentAt, now) };
  },
};

async function verify(callback: Callback, credentials: VonageCredentials, now: Date): Promise<Date> {
  const { signature_secret, session_signature_secret = signature_secret } = credentials;
  const claims = await verifyToken(callback, [signature_secret, session_signature_secret], {
    now,
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    maxTokenAge: MAX_RETRY_SECONDS,
  });
  assertBodyDigest(claims.payload_hash, sha256(callback.body, 'hex'));
  for (const claim of ['api_key', 'application_id'] as const) {
    if (credentials[claim] !== undefined && claims[claim] !== credentials[claim]) {
      throw new UnverifiedCallback(`The signature belongs to another ${claim}`);
    }
  }
  return readTime((claims.iat ?? 0) * SECOND_MS, now);
}

function readEvents(body: unknown, sentAt: Date, now: Date): ProviderEvent[] {
  const { event } = readShape(Event, body);
  if (event === 'archive') return readArchiveEvents(body, sentAt, now);
  if (event === 'sessionDestroyed') {
    const session = readShape(Session, body);
    return [
      { kind: 'meeting.ended', room: sessionRoom(session.sessionId), at: readTime(session.timestamp, now, sentAt) },
    ];
  }
  if (event !== 'connectionCreated' && event !== 'connectionDestroyed') return [];

  const { sessionId, timestamp, connection } = readShape(Connection, body);
  const base = {
    room: sessionRoom(sessionId),
    participantReference: connection.id,
    at: readTime(timestamp, now),
  };
  return event === 'connectionCreated'
    ? [{ kind: 'participant.joined', ...base, ...readData(connection.data) }]
    : [{ kind: 'participant.left', ...base }];
}

/**
 * The only timestamp in an archive callback is `createdAt`, the start of the recording. For every status except
 * `started` and `paused`, the event's time is therefore when the callback was signed.
 */
function readArchiveEvents(body: unknown, sentAt: Date, now: Date): ProviderEvent[] {
  const archive = readShape(Archive, body);
  const base = { room: sessionRoom(archive.sessionId), archiveId: archive.id };
  const measures = { duration: cleanSeconds(archive.duration), size: cleanBytes(archive.size) };
  switch (archive.status) {
    case 'started':
    case 'paused': {
      const at = readTime(archive.createdAt, now);
      return [{ kind: 'recording.started', ...base, title: cleanTitle(archive.name), at }];
    }
    case 'stopped':
      return [{ kind: 'recording.ended', ...base, ...measures, at: sentAt }];
    case 'uploaded':
      return [{ kind: 'recording.uploaded', ...base, ...measures, file: null, at: sentAt }];
    case 'available': {
      const file = readFileUrl(archive.url);
      if (file === null) return [{ kind: 'recording.uploaded', ...base, ...measures, file, at: sentAt }];
      // The URL expires 10 minutes after the first attempt. If Vonage signs each retry anew, the time
      // computed here is later.
      const urlExpiresAt = new Date(sentAt.getTime() + URL_LIFETIME_MS);
      return [{ kind: 'recording.available', ...base, ...measures, file, urlExpiresAt, at: sentAt }];
    }
    case 'failed': {
      const reason = cleanReason(archive.reason) ?? 'Vonage gave no reason';
      return [{ kind: 'recording.failed', ...base, reason, at: sentAt }];
    }
    case 'expired':
      return [{ kind: 'recording.failed', ...base, reason: 'The recording expired before it was copied', at: sentAt }];
    default:
      return [];
  }
}

function sessionRoom(sessionId: string): RoomReference {
  return { kind: 'session', sessionId };
}

/**
 * `data` comes from the token with which the Vonage client connected. It is JSON with our fields; any other text is
 * used as the name.
 */
function readData(data: unknown) {
  const custom = typeof data === 'string' ? readCustomData(data) : null;
  return {
    name: cleanName(custom ? custom.name : data),
    email: cleanEmail(custom?.email),
    reference: cleanReference(custom?.participant_reference),
    token: cleanToken(custom?.participant_token),
  };
}
