/** Reads LiveKit's webhook events with LiveKit's SDK. */
import { type EgressInfo, EgressStatus, type ParticipantInfo, WebhookEvent } from 'livekit-server-sdk';
import { z } from 'zod';
import { SECOND_MS } from '../../../core/time.ts';
import { MalformedCallback } from './provider-adapter.ts';
import type { ProviderEvent } from './provider-event.ts';
import {
  cleanBytes,
  cleanEmail,
  cleanName,
  cleanReason,
  cleanReference,
  cleanSeconds,
  cleanToken,
  providerId,
  readCustomData,
  readFileUrl,
  readShape,
  readTime,
} from './read.ts';

const NS_PER_MS = 1_000_000n;

/**
 * The participant kinds that are people: STANDARD, which may be omitted, and SIP. Recorders, ingress, agents and
 * bridges also join as participants. The kind is read from the JSON because the SDK decodes an unknown kind as
 * STANDARD.
 */
const PERSON_KINDS: readonly unknown[] = [undefined, null, 0, 'STANDARD', 3, 'SIP'];

const SentKind = z.object({ participant: z.object({ kind: z.unknown().optional() }) });
const FinishedRoom = z.object({ room: z.object({ name: providerId('room.name') }) });
const ParticipantIds = FinishedRoom.extend({
  participant: z.object({ sid: providerId('participant.sid') }),
});
const EgressIds = z.object({
  egressInfo: z.object({ egressId: providerId('egressInfo.egressId'), roomName: providerId('egressInfo.roomName') }),
});

/** Reads a verified webhook. Throws MalformedCallback if the body is not a LiveKit event. */
export function readLivekitEvents(json: unknown, now: Date): { id: string; events: ProviderEvent[] } {
  const event = decode(json);
  return { id: event.id, events: readEvents(json, event, now) };
}

/**
 * The SDK accepts field names in camelCase and snake_case, enums as names and numbers, and 64-bit integers as strings.
 */
function decode(json: unknown): WebhookEvent {
  try {
    return WebhookEvent.fromJsonString(JSON.stringify(json), { ignoreUnknownFields: true });
  } catch {
    throw new MalformedCallback('Request body is not a LiveKit webhook event');
  }
}

function readEvents(json: unknown, event: WebhookEvent, now: Date): ProviderEvent[] {
  const sentAt = readTime(event.createdAt * BigInt(SECOND_MS), now);
  switch (event.event) {
    case 'participant_joined':
    case 'participant_left':
      return readParticipantEvents(json, event, sentAt);
    case 'egress_started':
    case 'egress_updated':
    case 'egress_ended':
      return readRecordingEvents(event, sentAt, now);
    case 'room_finished': {
      const { room } = readShape(FinishedRoom, event);
      return [{ kind: 'meeting.ended', room: { kind: 'name', name: room.name }, at: sentAt }];
    }
    default:
      return [];
  }
}

function readParticipantEvents(json: unknown, event: WebhookEvent, at: Date): ProviderEvent[] {
  const sentKind = SentKind.safeParse(json).data?.participant.kind;
  if (!PERSON_KINDS.includes(sentKind)) return [];
  if (!event.participant) throw new MalformedCallback('participant is required');
  const { room, participant } = readShape(ParticipantIds, event);
  const base = { room: { kind: 'name', name: room.name } as const, participantReference: participant.sid, at };
  return event.event === 'participant_joined'
    ? [{ kind: 'participant.joined', ...base, ...readPerson(event.participant) }]
    : [{ kind: 'participant.left', ...base }];
}

/**
 * Attributes take precedence over metadata, and the participant's own name over both. The identity is the last resort
 * for the reference and the token.
 */
function readPerson({ attributes, metadata, identity, name }: ParticipantInfo) {
  const custom = readCustomData(metadata);
  return {
    name: cleanName(name) ?? cleanName(attributes.name) ?? cleanName(custom?.name),
    email: cleanEmail(attributes.email) ?? cleanEmail(custom?.email),
    reference:
      cleanReference(attributes.participant_reference) ??
      cleanReference(custom?.participant_reference) ??
      cleanReference(identity),
    token: cleanToken(attributes.participant_token) ?? cleanToken(custom?.participant_token) ?? cleanToken(identity),
  };
}

function readRecordingEvents(event: WebhookEvent, sentAt: Date, now: Date): ProviderEvent[] {
  const egress = event.egressInfo;
  if (!egress) throw new MalformedCallback('egressInfo is required');
  // Egress that captures a web page has no room.
  if (hasNoRecording(egress) || egress.roomName === '') return [];

  const { egressId, roomName } = readShape(EgressIds, event).egressInfo;
  const base = { room: { kind: 'name', name: roomName } as const, archiveId: egressId };
  const [file] = egress.fileResults;
  const measures = {
    duration: file ? cleanSeconds(Number(file.duration / NS_PER_MS) / SECOND_MS) : null,
    size: cleanBytes(file?.size),
  };
  const startedAt = readTime(egress.startedAt / NS_PER_MS, now, sentAt);
  const endedAt = readTime((egress.endedAt || egress.updatedAt) / NS_PER_MS, now, sentAt);

  switch (egress.status) {
    case EgressStatus.EGRESS_STARTING:
      // STARTING is the zero value of the enum, so the SDK also decodes an unknown status as STARTING.
      if (event.event !== 'egress_started') return [];
      return [{ kind: 'recording.started', ...base, title: null, at: startedAt }];
    case EgressStatus.EGRESS_ACTIVE:
      return [{ kind: 'recording.started', ...base, title: null, at: startedAt }];
    case EgressStatus.EGRESS_ENDING:
      return [{ kind: 'recording.ended', ...base, ...measures, at: endedAt }];
    case EgressStatus.EGRESS_COMPLETE:
    case EgressStatus.EGRESS_LIMIT_REACHED:
      return [{ kind: 'recording.uploaded', ...base, ...measures, file: readFileUrl(file?.location), at: endedAt }];
    case EgressStatus.EGRESS_FAILED:
    case EgressStatus.EGRESS_ABORTED: {
      const reason = cleanReason(egress.error) ?? cleanReason(egress.details) ?? 'LiveKit gave no reason';
      return [{ kind: 'recording.failed', ...base, reason, at: endedAt }];
    }
    default:
      return [];
  }
}

/** Egress also covers snapshots and streams to other services, which produce no recording. */
function hasNoRecording({ streamResults, imageResults, fileResults, segmentResults }: EgressInfo): boolean {
  return streamResults.length + imageResults.length > 0 && fileResults.length + segmentResults.length === 0;
}
