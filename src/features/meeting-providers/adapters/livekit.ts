/**
 * LiveKit: webhooks of rooms' participants and of egress, its recorder.
 * https://docs.livekit.io/home/server/webhooks/, https://github.com/livekit/protocol (webhook, protobufs)
 */
import { type EgressInfo, EgressStatus, type ParticipantInfo, WebhookEvent } from 'livekit-server-sdk';
import { z } from 'zod';
import { SECOND_MS } from '../../../core/time.ts';
import {
  cleanBytes,
  cleanEmail,
  cleanName,
  cleanReason,
  cleanSeconds,
  cleanToken,
  fileAt,
  momentOr,
  momentOrNow,
} from './clean.ts';
import { MalformedCallback } from './errors.ts';
import type { Callback, MeetingFact, ProviderAdapter } from './facts.ts';
import { providerId, readCarried, readCredentials, readJson, readShape } from './read.ts';
import { assertBodyDigest, sha256, verifyToken } from './signatures.ts';

export const LivekitCredentials = z.object({
  api_key: z.string().min(1).max(200).describe('API key that signs the webhooks'),
  api_secret: z.string().min(8).max(500).describe('Secret of this API key'),
});
export type LivekitCredentials = z.infer<typeof LivekitCredentials>;

/** As the SDK has it. The tokens themselves are good for 5 minutes. */
const CLOCK_TOLERANCE_SECONDS = 10;
const NS_PER_MS = 1_000_000n;

/**
 * STANDARD, also by leaving it out, and SIP. Recorders, ingress, agents and bridges join as participants too. The names
 * are read as they were sent, since the SDK decodes a kind that it does not know yet as STANDARD.
 */
const KINDS_OF_PEOPLE: readonly unknown[] = [undefined, null, 0, 'STANDARD', 3, 'SIP'];

const SentKind = z.object({ participant: z.object({ kind: z.unknown().optional() }) });
const ParticipantIds = z.object({
  room: z.object({ name: providerId('room.name') }),
  participant: z.object({ sid: providerId('participant.sid') }),
});
const EgressIds = z.object({
  egressInfo: z.object({ egressId: providerId('egressInfo.egressId'), roomName: providerId('egressInfo.roomName') }),
});

/** Told twice, an event has the same id; the body stands in for one that is missing or cannot be kept. */
export const livekit: ProviderAdapter = {
  async readAndVerify(callback, credentials, now) {
    await verify(callback, readCredentials(LivekitCredentials, credentials), now);
    const json = readJson(callback.body);
    const event = decode(json);
    const dedupeKey = cleanToken(event.id) ?? sha256(callback.body, 'hex');
    return { dedupeKey, facts: factsOf(json, event, now) };
  },
};

/**
 * The token and the digest are checked here and not by the SDK's WebhookReceiver, which does the same by the machine's
 * clock, with any of three algorithms, and reports a wrong signature and a broken body alike.
 */
async function verify(callback: Callback, { api_key, api_secret }: LivekitCredentials, now: Date): Promise<void> {
  const claims = await verifyToken(callback, [api_secret], {
    now,
    issuer: api_key,
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    requiredClaims: ['exp'],
  });
  assertBodyDigest(claims.sha256, sha256(callback.body, 'base64'));
}

/** The SDK knows both spellings of a field, both of an enum, and 64-bit integers as texts. */
function decode(json: unknown): WebhookEvent {
  try {
    return WebhookEvent.fromJsonString(JSON.stringify(json), { ignoreUnknownFields: true });
  } catch {
    throw new MalformedCallback('Request body is not a webhook event of LiveKit');
  }
}

/** In attributes, then in metadata, then as the identity itself: wherever the token of the participant carried it. */
function readPerson({ attributes, metadata, identity, name }: ParticipantInfo) {
  const carried = readCarried(metadata);
  return {
    name: cleanName(name) ?? cleanName(attributes.name) ?? cleanName(carried?.name),
    email: cleanEmail(attributes.email) ?? cleanEmail(carried?.email),
    token: cleanToken(attributes.participant_token) ?? cleanToken(carried?.participant_token) ?? cleanToken(identity),
  };
}

function participantFacts(json: unknown, event: WebhookEvent, at: Date): MeetingFact[] {
  const sentKind = SentKind.safeParse(json).data?.participant.kind;
  if (!KINDS_OF_PEOPLE.includes(sentKind)) return [];
  if (!event.participant) throw new MalformedCallback('participant is required');
  const { room, participant } = readShape(ParticipantIds, event);
  const about = { room: { kind: 'name', name: room.name } as const, participantReference: participant.sid, at };
  return event.event === 'participant_joined'
    ? [{ kind: 'participant.joined', ...about, ...readPerson(event.participant) }]
    : [{ kind: 'participant.left', ...about }];
}

/** Streams to other services and snapshots are egress too, and leave nothing to keep. */
function recordsNothing({ streamResults, imageResults, fileResults, segmentResults }: EgressInfo): boolean {
  return streamResults.length + imageResults.length > 0 && fileResults.length + segmentResults.length === 0;
}

function recordingFacts(event: WebhookEvent, sentAt: Date, now: Date): MeetingFact[] {
  const egress = event.egressInfo;
  if (!egress) throw new MalformedCallback('egressInfo is required');
  // An egress of a web page has no room.
  if (recordsNothing(egress) || egress.roomName === '') return [];

  const { egressId, roomName } = readShape(EgressIds, event).egressInfo;
  const about = { room: { kind: 'name', name: roomName } as const, archiveId: egressId };
  const [file] = egress.fileResults;
  const measures = {
    duration: file ? cleanSeconds(Number(file.duration / NS_PER_MS) / SECOND_MS) : null,
    size: cleanBytes(file?.size),
  };
  const startedAt = momentOr(sentAt, egress.startedAt / NS_PER_MS, now);
  const endedAt = momentOr(sentAt, (egress.endedAt || egress.updatedAt) / NS_PER_MS, now);

  switch (egress.status) {
    case EgressStatus.EGRESS_STARTING:
      // The zero value: a status that the SDK does not know yet decodes as this one.
      if (event.event !== 'egress_started') return [];
      return [{ kind: 'recording.started', ...about, title: null, at: startedAt }];
    case EgressStatus.EGRESS_ACTIVE:
      return [{ kind: 'recording.started', ...about, title: null, at: startedAt }];
    case EgressStatus.EGRESS_ENDING:
      return [{ kind: 'recording.ended', ...about, ...measures, at: endedAt }];
    case EgressStatus.EGRESS_COMPLETE:
    case EgressStatus.EGRESS_LIMIT_REACHED:
      return [{ kind: 'recording.uploaded', ...about, ...measures, file: fileAt(file?.location), at: endedAt }];
    case EgressStatus.EGRESS_FAILED:
    case EgressStatus.EGRESS_ABORTED: {
      const reason = cleanReason(egress.error) ?? cleanReason(egress.details) ?? 'failed at LiveKit without a reason';
      return [{ kind: 'recording.failed', ...about, reason, at: endedAt }];
    }
    default:
      return [];
  }
}

function factsOf(json: unknown, event: WebhookEvent, now: Date): MeetingFact[] {
  const sentAt = momentOrNow(event.createdAt * BigInt(SECOND_MS), now);
  switch (event.event) {
    case 'participant_joined':
    case 'participant_left':
      return participantFacts(json, event, sentAt);
    case 'egress_started':
    case 'egress_updated':
    case 'egress_ended':
      return recordingFacts(event, sentAt, now);
    default:
      return [];
  }
}
