/**
 * Vonage Video API (OpenTok): archive status callbacks and session monitoring, as signed callbacks.
 * https://developer.vonage.com/en/video/guides/secure-callbacks,
 * https://developer.vonage.com/en/video/guides/archiving/overview,
 * https://developer.vonage.com/en/video/guides/session-monitoring/overview
 */
import { z } from 'zod';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../core/time.ts';
import {
  cleanBytes,
  cleanEmail,
  cleanName,
  cleanReason,
  cleanSeconds,
  cleanTitle,
  cleanToken,
  fileAt,
  momentOrNow,
} from './clean.ts';
import { UnverifiedCallback } from './errors.ts';
import type { Callback, MeetingFact, ProviderAdapter, RoomReference } from './facts.ts';
import { providerId, readCarried, readCredentials, readJson, readShape } from './read.ts';
import { assertBodyDigest, sha256, verifyToken } from './signatures.ts';

const secret = z.string().min(8).max(500);
const account = z.string().min(1).max(200);

export const VonageCredentials = z.object({
  signature_secret: secret.describe('Signature secret of the secure callbacks'),
  session_signature_secret: secret
    .describe('Signature secret of session monitoring, where it has one of its own')
    .optional(),
  api_key: account.describe('API key; when given, only callbacks of this account are accepted').optional(),
  application_id: account
    .describe('Application ID; when given, only callbacks of this application are accepted')
    .optional(),
});
export type VonageCredentials = z.infer<typeof VonageCredentials>;

/**
 * Vonage tries for 24 hours. Whether each attempt is signed anew is not documented, so a signature is good for as long
 * as that; a replay within that time changes nothing, since the same body has the same dedupe key.
 */
const MAX_RETRY_SECONDS = DAY_MS / SECOND_MS;
const CLOCK_TOLERANCE_SECONDS = (5 * MINUTE_MS) / SECOND_MS;
/** How long the URL of an available archive is good. */
const URL_LIFETIME_MS = 10 * MINUTE_MS;

const unknown = z.unknown().optional();
const Event = z.object({ event: z.string() });

// What is unknown here is read leniently below: a wrong duration must not cost the recording.
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

const Connection = z.object({
  sessionId: providerId('sessionId'),
  timestamp: unknown,
  connection: z.object({ id: providerId('connection.id'), data: unknown }),
});

/** A callback has no id, so its body is one: what changes in a meeting or an archive changes the body. */
export const vonage: ProviderAdapter = {
  async readAndVerify(callback, credentials, now) {
    const sentAt = await verify(callback, readCredentials(VonageCredentials, credentials), now);
    return { dedupeKey: sha256(callback.body, 'hex'), facts: factsOf(readJson(callback.body), sentAt, now) };
  },
};

function sessionRoom(sessionId: string): RoomReference {
  return { kind: 'session', sessionId };
}

/** Only `createdAt`, the start of the recording, is in an archive's callback: the rest happened when it was sent. */
function archiveFacts(body: unknown, sentAt: Date, now: Date): MeetingFact[] {
  const archive = readShape(Archive, body);
  const about = { room: sessionRoom(archive.sessionId), archiveId: archive.id };
  const measures = { duration: cleanSeconds(archive.duration), size: cleanBytes(archive.size) };
  switch (archive.status) {
    case 'started':
    case 'paused': {
      const at = momentOrNow(archive.createdAt, now);
      return [{ kind: 'recording.started', ...about, title: cleanTitle(archive.name), at }];
    }
    case 'stopped':
      return [{ kind: 'recording.ended', ...about, ...measures, at: sentAt }];
    case 'uploaded':
      return [{ kind: 'recording.uploaded', ...about, ...measures, file: null, at: sentAt }];
    case 'available': {
      const file = fileAt(archive.url);
      if (file === null) return [{ kind: 'recording.uploaded', ...about, ...measures, file, at: sentAt }];
      // The URL was made when the callback was sent, which a late retry is long after.
      const urlExpiresAt = new Date(sentAt.getTime() + URL_LIFETIME_MS);
      return [{ kind: 'recording.available', ...about, ...measures, file, urlExpiresAt, at: sentAt }];
    }
    case 'failed': {
      const reason = cleanReason(archive.reason) ?? 'failed at Vonage without a reason';
      return [{ kind: 'recording.failed', ...about, reason, at: sentAt }];
    }
    case 'expired':
      return [{ kind: 'recording.failed', ...about, reason: 'expired before it was copied', at: sentAt }];
    default:
      return [];
  }
}

/** `data` is what the token of the connection carried: ours as JSON, else whatever the customer put there as a name. */
function readData(data: unknown) {
  const carried = typeof data === 'string' ? readCarried(data) : null;
  return {
    name: cleanName(carried ? carried.name : data),
    email: cleanEmail(carried?.email),
    token: cleanToken(carried?.participant_token),
  };
}

function factsOf(body: unknown, sentAt: Date, now: Date): MeetingFact[] {
  const { event } = readShape(Event, body);
  if (event === 'archive') return archiveFacts(body, sentAt, now);
  if (event !== 'connectionCreated' && event !== 'connectionDestroyed') return [];

  const { sessionId, timestamp, connection } = readShape(Connection, body);
  const about = {
    room: sessionRoom(sessionId),
    participantReference: connection.id,
    at: momentOrNow(timestamp, now),
  };
  return event === 'connectionCreated'
    ? [{ kind: 'participant.joined', ...about, ...readData(connection.data) }]
    : [{ kind: 'participant.left', ...about }];
}

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
      throw new UnverifiedCallback(`The signature is of another ${claim}`);
    }
  }
  return momentOrNow((claims.iat ?? 0) * SECOND_MS, now);
}
