/**
 * Any other provider that can post our documented JSON and sign it as Standard Webhooks specifies.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { equalInConstantTime } from '../../../core/constant-time.ts';
import { MINUTE_MS, SECOND_MS } from '../../../core/time.ts';
import { integerBetween } from '../../../core/validation.ts';
import { type Callback, MalformedCallback, type ProviderAdapter, UnverifiedCallback } from './provider-adapter.ts';
import type { ProviderEvent } from './provider-event.ts';
import {
  cleanEmail,
  cleanName,
  cleanReason,
  cleanReference,
  cleanTitle,
  cleanToken,
  EARLIEST_MS,
  MAX_FILE_BYTES,
  MAX_SECONDS,
  MAX_URL_LENGTH,
  providerId,
  readCredentials,
  readFileUrl,
  readHeader,
  readJson,
  readShape,
  readTime,
} from './read.ts';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;
/** The specification requires 24 to 64 bytes, encoded in base64. */
const SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;

/** The tolerance that the specification recommends. It limits how long a callback can be replayed. */
const TOLERANCE_SECONDS = (5 * MINUTE_MS) / SECOND_MS;
const EARLIEST_SECONDS = EARLIEST_MS / SECOND_MS;
const LATEST_SECONDS = Date.UTC(2100, 0, 1) / SECOND_MS;

export const GenericCredentials = z.object({
  secret: z
    .string()
    .regex(SECRET, { error: 'secret must be whsec_ followed by 24 to 64 bytes in base64' })
    .describe('Signs callbacks with HMAC-SHA256. The key is the part after whsec_, decoded from base64'),
});
export type GenericCredentials = z.infer<typeof GenericCredentials>;

const occurrence = {
  occurred_at: integerBetween(EARLIEST_SECONDS, LATEST_SECONDS).describe(
    'When the event happened, Unix timestamp in seconds; a time in the future is treated as now',
  ),
  room: providerId('room').describe('Name of the room').meta({ example: 'amber-falcon' }),
};

const participantId = providerId('participant.id').describe(
  'ID of this connection of the participant; the `participant.left` event of the connection must have the same ID',
);

const recordingId = providerId('recording.id').describe(
  'The ID that the provider gave the recording; becomes the `archive_id` of the recording',
);
const duration = integerBetween(0, MAX_SECONDS).nullish().describe('Seconds; null or 0 if not known yet');
const size = integerBetween(0, MAX_FILE_BYTES).nullish().describe('Bytes; null or 0 if not known yet');

const INVALID_URL =
  `recording.url must be an http or https URL with at most ${MAX_URL_LENGTH} characters, ` +
  'without a user name or password';

const url = z.string().transform((text, context) => {
  const file = readFileUrl(text);
  if (file !== null) return file;
  context.addIssue({ code: 'custom', message: INVALID_URL });
  return z.NEVER;
});

export const ParticipantJoined = eventSchema('participant.joined', {
  participant: z.object({
    id: participantId,
    name: z.string().nullish().describe('Name of the participant; truncated to 100 characters'),
    email: z.string().nullish().describe('Matches the participant to a contact; ignored if it is not an email address'),
    reference: z
      .string()
      .nullish()
      .describe(
        'The `reference` that `POST /api/rooms/{roomName}/join` returned; null if the participant did not join that ' +
          'way',
      ),
    token: z
      .string()
      .nullish()
      .meta({ deprecated: true })
      .describe(
        'Send `reference` instead. The `token` that joining returned; it is no longer read from version 0.4 on',
      ),
  }),
});

export const ParticipantLeft = eventSchema('participant.left', { participant: z.object({ id: participantId }) });

export const RecordingStarted = eventSchema('recording.started', {
  recording: z.object({
    id: recordingId,
    title: z.string().nullish().describe('Title of the recording; truncated to 200 characters'),
  }),
});

export const RecordingEnded = eventSchema('recording.ended', {
  recording: z.object({ id: recordingId, duration, size }),
});

export const RecordingUploaded = eventSchema('recording.uploaded', {
  recording: z.object({
    id: recordingId,
    duration,
    size,
    url: url.nullish().describe('URL of the file, if it has one'),
  }),
});

export const RecordingAvailable = eventSchema('recording.available', {
  recording: z.object({
    id: recordingId,
    duration,
    size,
    url: url.describe('URL of the file'),
    url_expires_at: integerBetween(EARLIEST_SECONDS, LATEST_SECONDS)
      .nullish()
      .describe('When the URL expires, Unix timestamp in seconds; null if it does not expire'),
  }),
});

export const RecordingFailed = eventSchema('recording.failed', {
  recording: z.object({
    id: recordingId,
    reason: z.string().nullish().describe('Why the recording failed; truncated to 500 characters'),
  }),
});

const eventSchemas = [
  ParticipantJoined,
  ParticipantLeft,
  RecordingStarted,
  RecordingEnded,
  RecordingUploaded,
  RecordingAvailable,
  RecordingFailed,
] as const;

const types = eventSchemas.map(({ shape }) => shape.type.value);

export const GenericEvent = z
  .discriminatedUnion('type', eventSchemas, {
    error: (issue) => (issue.code === 'invalid_union' ? `type must be one of ${types.join(', ')}` : undefined),
  })
  .meta({ id: 'MeetingProviderEvent', description: 'An event in a meeting, as the provider reports it' });
export type GenericEvent = z.infer<typeof GenericEvent>;

type Base = Pick<ProviderEvent, 'room' | 'at'>;

/** When a sender repeats a callback, it sends the same id with a new timestamp. */
export const generic: ProviderAdapter = {
  async readAndVerify(callback, credentials, now) {
    const dedupeKey = cleanToken(verify(callback, readCredentials(GenericCredentials, credentials), now));
    if (dedupeKey === null) throw new MalformedCallback('webhook-id must be 1 to 200 visible ASCII characters');
    return { dedupeKey, events: [toProviderEvent(readShape(GenericEvent, readJson(callback.body)), now)] };
  },
};

/** Creates a secret of 32 random bytes, in the format that the Standard Webhooks libraries use. */
export function createGenericSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

function eventSchema<const Type extends string, Subject extends z.ZodRawShape>(type: Type, subject: Subject) {
  const id = `Provider${type.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
  return z.object({ type: z.literal(type), ...occurrence, ...subject }).meta({ id });
}

/**
 * Returns the `webhook-id`. Throws UnverifiedCallback if the callback is not signed with the secret, or its timestamp
 * is outside the tolerance.
 */
function verify(callback: Callback, { secret }: GenericCredentials, now: Date): string {
  const id = readHeader(callback, 'webhook-id');
  const timestamp = readHeader(callback, 'webhook-timestamp');
  const signatures = readHeader(callback, 'webhook-signature');
  if (id === undefined || timestamp === undefined || signatures === undefined) {
    throw new UnverifiedCallback('webhook-id, webhook-timestamp and webhook-signature are required');
  }

  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(callback.body).digest('base64');
  // A sender that is rotating its secret sends one signature for each secret.
  const isSigned = signatures.split(' ').some((signature) => equalInConstantTime(signature, `v1,${digest}`));
  if (!isSigned) throw new UnverifiedCallback('The signature is not valid');

  const age = now.getTime() / SECOND_MS - Number(timestamp);
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(age) > TOLERANCE_SECONDS) {
    throw new UnverifiedCallback('webhook-timestamp must be within 5 minutes of now');
  }
  return id;
}

function toProviderEvent(event: GenericEvent, now: Date): ProviderEvent {
  const base: Base = {
    room: { kind: 'name', name: event.room },
    at: readTime(event.occurred_at * SECOND_MS, now),
  };
  return 'recording' in event ? toRecordingEvent(event, base) : toParticipantEvent(event, base);
}

function toRecordingEvent(event: Extract<GenericEvent, { recording: unknown }>, base: Base): ProviderEvent {
  const recording = { ...base, archiveId: event.recording.id };
  switch (event.type) {
    case 'recording.started':
      return { kind: event.type, ...recording, title: cleanTitle(event.recording.title) };
    case 'recording.ended':
      return { kind: event.type, ...recording, ...toMeasures(event.recording) };
    case 'recording.uploaded':
      return { kind: event.type, ...recording, ...toMeasures(event.recording), file: event.recording.url ?? null };
    case 'recording.available': {
      const { url: file, url_expires_at: expiresAt } = event.recording;
      const urlExpiresAt = expiresAt ? new Date(expiresAt * SECOND_MS) : null;
      return { kind: event.type, ...recording, ...toMeasures(event.recording), file, urlExpiresAt };
    }
    case 'recording.failed': {
      const reason = cleanReason(event.recording.reason) ?? 'The provider gave no reason';
      return { kind: event.type, ...recording, reason };
    }
  }
}

/** Converts 0 to null. Both mean that the value is not known yet. */
function toMeasures({ duration, size }: { duration?: number | null | undefined; size?: number | null | undefined }) {
  return { duration: duration || null, size: size || null };
}

function toParticipantEvent(event: Extract<GenericEvent, { participant: unknown }>, base: Base): ProviderEvent {
  const participant = { ...base, participantReference: event.participant.id };
  if (event.type === 'participant.left') return { kind: event.type, ...participant };
  const { name, email, reference, token } = event.participant;
  return {
    kind: event.type,
    ...participant,
    name: cleanName(name),
    email: cleanEmail(email),
    reference: cleanReference(reference),
    token: cleanToken(token),
  };
}
