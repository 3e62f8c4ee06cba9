/**
 * Any provider that can be taught to speak ours: documented JSON, signed as Standard Webhooks signs.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { equalInConstantTime } from '../../../core/constant-time.ts';
import { MINUTE_MS, SECOND_MS } from '../../../core/time.ts';
import { integerBetween } from '../../../core/validation.ts';
import {
  cleanEmail,
  cleanName,
  cleanReason,
  cleanTitle,
  cleanToken,
  EARLIEST_MS,
  fileAt,
  MAX_FILE_BYTES,
  MAX_SECONDS,
  momentOrNow,
} from './clean.ts';
import { MalformedCallback, UnverifiedCallback } from './errors.ts';
import type { Callback, MeetingFact, ProviderAdapter } from './facts.ts';
import { headerOf, providerId, readCredentials, readJson, readShape } from './read.ts';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;
/** 24 to 64 bytes, as the specification asks for. */
const SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;

/** As the specification recommends: it bounds how long a callback can be replayed. */
const TOLERANCE_SECONDS = (5 * MINUTE_MS) / SECOND_MS;
const EARLIEST_SECONDS = EARLIEST_MS / SECOND_MS;
const LATEST_SECONDS = Date.UTC(2100, 0, 1) / SECOND_MS;

export const GenericCredentials = z.object({
  secret: z
    .string()
    .regex(SECRET, { error: 'secret must be whsec_ and the base64 of 24 to 64 bytes' })
    .describe('Signs the callbacks: HMAC-SHA256 under the bytes whose base64 follows whsec_'),
});
export type GenericCredentials = z.infer<typeof GenericCredentials>;

const occurrence = {
  occurred_at: integerBetween(EARLIEST_SECONDS, LATEST_SECONDS).describe(
    'When it happened, Unix timestamp in seconds; a time that is still to come counts as now',
  ),
  room: providerId('room').describe('Name of the room').meta({ example: 'amber-falcon' }),
};

const participantId = providerId('participant.id').describe(
  'ID of this one presence in the meeting; its leave carries the same',
);

const recordingId = providerId('recording.id').describe('ID of the recording at the provider, its archive_id here');
const duration = integerBetween(0, MAX_SECONDS).nullish().describe('Seconds; null or 0: not known yet');
const size = integerBetween(0, MAX_FILE_BYTES).nullish().describe('Bytes; null or 0: not known yet');

const url = z.string().transform((text, context) => {
  const file = fileAt(text);
  if (file !== null) return file;
  context.addIssue({ code: 'custom', message: 'recording.url must be an http or https URL without a password' });
  return z.NEVER;
});

export const ParticipantJoined = eventOf('participant.joined', {
  participant: z.object({
    id: participantId,
    name: z.string().nullish().describe('What the participant is called; cut at 100 characters'),
    email: z.string().nullish().describe('Matches the participant to a contact; ignored unless it is an email address'),
    token: z.string().nullish().describe('What joining the room here answered, if the participant came that way'),
  }),
});

export const ParticipantLeft = eventOf('participant.left', { participant: z.object({ id: participantId }) });

export const RecordingStarted = eventOf('recording.started', {
  recording: z.object({ id: recordingId, title: z.string().nullish().describe('Cut at 200 characters') }),
});

export const RecordingEnded = eventOf('recording.ended', {
  recording: z.object({ id: recordingId, duration, size }),
});

export const RecordingUploaded = eventOf('recording.uploaded', {
  recording: z.object({
    id: recordingId,
    duration,
    size,
    url: url.nullish().describe('Where the file is, if it has an address'),
  }),
});

export const RecordingAvailable = eventOf('recording.available', {
  recording: z.object({
    id: recordingId,
    duration,
    size,
    url: url.describe('Where the file can be fetched'),
    url_expires_at: integerBetween(EARLIEST_SECONDS, LATEST_SECONDS)
      .nullish()
      .describe('Unix timestamp in seconds until which the URL is good; null: it lasts'),
  }),
});

export const RecordingFailed = eventOf('recording.failed', {
  recording: z.object({ id: recordingId, reason: z.string().nullish().describe('Cut at 500 characters') }),
});

const events = [
  ParticipantJoined,
  ParticipantLeft,
  RecordingStarted,
  RecordingEnded,
  RecordingUploaded,
  RecordingAvailable,
  RecordingFailed,
] as const;

const types = events.map(({ shape }) => shape.type.value);

export const GenericEvent = z
  .discriminatedUnion('type', events, {
    error: (issue) => (issue.code === 'invalid_union' ? `type must be one of ${types.join(', ')}` : undefined),
  })
  .meta({ id: 'MeetingProviderEvent', description: 'What happened in a meeting, as a provider tells it' });
export type GenericEvent = z.infer<typeof GenericEvent>;

type SentMeasures = { duration?: number | null | undefined; size?: number | null | undefined };

/** A callback that is sent again keeps its id and gets a new timestamp. */
export const generic: ProviderAdapter = {
  async readAndVerify(callback, credentials, now) {
    const dedupeKey = cleanToken(verify(callback, readCredentials(GenericCredentials, credentials), now));
    if (dedupeKey === null) throw new MalformedCallback('webhook-id must be 1 to 200 visible ASCII characters');
    return { dedupeKey, facts: [factOf(readShape(GenericEvent, readJson(callback.body)), now)] };
  },
};

/** A new secret of 32 random bytes, in the form that libraries of Standard Webhooks take. */
export function createGenericSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

function eventOf<const Type extends string, Subject extends z.ZodRawShape>(type: Type, subject: Subject) {
  return z.object({ type: z.literal(type), ...occurrence, ...subject });
}

/** A zero says as little as nothing. */
function measuresOf({ duration, size }: SentMeasures) {
  return { duration: duration || null, size: size || null };
}

function recordingFact(
  event: Extract<GenericEvent, { recording: unknown }>,
  occurrenceOf: Pick<MeetingFact, 'room' | 'at'>,
): MeetingFact {
  const about = { ...occurrenceOf, archiveId: event.recording.id };
  switch (event.type) {
    case 'recording.started':
      return { kind: event.type, ...about, title: cleanTitle(event.recording.title) };
    case 'recording.ended':
      return { kind: event.type, ...about, ...measuresOf(event.recording) };
    case 'recording.uploaded':
      return { kind: event.type, ...about, ...measuresOf(event.recording), file: event.recording.url ?? null };
    case 'recording.available': {
      const { url: file, url_expires_at: expiresAt } = event.recording;
      const urlExpiresAt = expiresAt ? new Date(expiresAt * SECOND_MS) : null;
      return { kind: event.type, ...about, ...measuresOf(event.recording), file, urlExpiresAt };
    }
    case 'recording.failed':
      return { kind: event.type, ...about, reason: cleanReason(event.recording.reason) ?? 'failed without a reason' };
  }
}

function factOf(event: GenericEvent, now: Date): MeetingFact {
  const occurrenceOf = {
    room: { kind: 'name', name: event.room } as const,
    at: momentOrNow(event.occurred_at * SECOND_MS, now),
  };
  if ('recording' in event) return recordingFact(event, occurrenceOf);
  const about = { ...occurrenceOf, participantReference: event.participant.id };
  if (event.type === 'participant.left') return { kind: event.type, ...about };
  const { name, email, token } = event.participant;
  return {
    kind: event.type,
    ...about,
    name: cleanName(name),
    email: cleanEmail(email),
    token: cleanToken(token),
  };
}

/** The id of a callback that is signed under the secret and was sent within the tolerance. */
function verify(callback: Callback, { secret }: GenericCredentials, now: Date): string {
  const id = headerOf(callback, 'webhook-id');
  const timestamp = headerOf(callback, 'webhook-timestamp');
  const signatures = headerOf(callback, 'webhook-signature');
  if (id === undefined || timestamp === undefined || signatures === undefined) {
    throw new UnverifiedCallback('webhook-id, webhook-timestamp and webhook-signature are required');
  }

  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(callback.body).digest('base64');
  // Several while the sender changes from one secret to another.
  const isSigned = signatures.split(' ').some((signature) => equalInConstantTime(signature, `v1,${digest}`));
  if (!isSigned) throw new UnverifiedCallback('The signature is not valid');

  const age = now.getTime() / SECOND_MS - Number(timestamp);
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(age) > TOLERANCE_SECONDS) {
    throw new UnverifiedCallback('webhook-timestamp must be within 5 minutes of now');
  }
  return id;
}
