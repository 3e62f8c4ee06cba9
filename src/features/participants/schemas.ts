import { z } from 'zod';
import { ListPageInput, nextCursor } from '../../core/list-page.ts';
import { externalId, metadata } from '../../core/metadata.ts';
import { requestedId } from '../../core/requested-id.ts';
import { email, flag, id, MAX_NAME_LENGTH, optional, singleLineText, unixSeconds } from '../../core/validation.ts';
import { connectionId, FailedRecording, nullableMedia, Peer, RunningRecording } from '../peers/schemas.ts';
import { endReasons, participantStatuses } from './participant-status.ts';

/** How the operations for hosts are described. */
export const FOR_HOSTS =
  'For hosts of the room: the user to whom it belongs, the owner and admins of its workspace, and participants whose ' +
  'pass has `is_host`, with their own token (`lnp_...`) as `Authorization: Bearer`.';

const roomName = z.string().describe('Name of the room');
const status = z
  .enum(participantStatuses)
  .describe('`waiting` becomes `joined`, `refused` or `left`; `joined` becomes `left`; `refused` and `left` are final');
const endReason = z
  .enum(endReasons)
  .nullable()
  .describe('`removed`: a host removed them; `closed`: a host closed the meeting; null if no host ended their visit');
const joinedAt = unixSeconds.nullable().describe('Unix timestamp in seconds; null until the participant has joined');

export const Participant = z
  .object({
    id,
    name: z.string(),
    email: z.string().nullable().describe('null for a guest who sent no email address'),
    user_id: id.nullable().describe('User ID; null for a guest'),
    contact_id: id
      .nullable()
      .describe('The contact with their email address; null before they join or if they have no address'),
    external_id: externalId,
    metadata,
    status,
    end_reason: endReason,
    created_at: unixSeconds.describe('When they asked to join, Unix timestamp in seconds'),
    joined_at: joinedAt,
    left_at: unixSeconds.nullable().describe('Unix timestamp in seconds; null until the participant has left'),
  })
  .meta({
    id: 'Participant',
    description: 'A person who is or was in a room, is waiting to be admitted, or was refused',
  });
export type Participant = z.infer<typeof Participant>;

const ListedParticipant = Participant.extend({
  email_verified: z
    .boolean()
    .describe('Whether `email` is the confirmed address of their account; always false for a guest'),
  is_host: flag.describe('1 if they are a host of the room now; otherwise 0'),
  is_member: flag.describe('1 if they are a member of the workspace now; otherwise 0'),
}).meta({ id: 'ListedParticipant', description: 'A participant, as shown to a host of the room' });
export type ListedParticipant = z.infer<typeof ListedParticipant>;

const WaitingParticipant = ListedParticipant.extend({
  room: z.object({ id, name: z.string(), display_name: z.string().nullable() }).describe('Where they wait'),
}).meta({ id: 'WaitingParticipant', description: 'A participant who is waiting, with the room' });
export type WaitingParticipant = z.infer<typeof WaitingParticipant>;

export const OwnParticipant = z
  .object({
    id,
    room_name: z.string(),
    name: z.string(),
    user_id: id.nullable().describe('User ID; null for a guest and for a person with a pass'),
    status,
    end_reason: endReason,
    is_host: flag.describe('1 for a host of the room, otherwise 0'),
    is_member: flag.describe('1 for a member of its workspace, otherwise 0'),
    room_locked: flag.describe('1 while the room is locked by a host, so that nobody new can join; otherwise 0'),
    may_record: flag
      .nullable()
      .describe('1 or 0 if their pass says whether they may record; null if `who_may_record` of the room decides'),
    external_id: externalId,
    metadata,
    waiting_room_message: z
      .string()
      .nullable()
      .describe('The message of the room while the participant is waiting, otherwise null'),
    joined_at: joinedAt,
    created_at: unixSeconds.describe('When they asked to join, Unix timestamp in seconds'),
  })
  .meta({ id: 'OwnParticipant', description: 'A participant, as shown to that participant' });
export type OwnParticipant = z.infer<typeof OwnParticipant>;

const JoinedParticipant = OwnParticipant.extend({
  reference: z
    .string()
    .describe(
      'Names the participant to a meeting provider, whose callbacks repeat it. It is not a credential: no operation ' +
        'accepts it',
    ),
  token: z
    .string()
    .describe('Identifies the participant in the other operations of the room. Begins with `lnp_`; returned only here'),
}).meta({ id: 'JoinedParticipant', description: 'A participant who has joined or is waiting, with their token' });
export type JoinedParticipant = z.infer<typeof JoinedParticipant>;

export const JoinInput = z
  .object({
    roomName,
    name: singleLineText(MAX_NAME_LENGTH)
      .nullable()
      .describe(
        `At most ${MAX_NAME_LENGTH} characters; required for a guest; for a user, the default is the name of the ` +
          'account',
      )
      .meta({ example: 'Vera Novak' })
      .optional(),
    email: email
      .nullable()
      .describe(
        'Email address of a guest, which matches them to a contact; ignored for a user, whose account address is ' +
          'used instead',
      )
      .meta({ example: 'vera@example.com' })
      .optional(),
    token: z
      .string()
      .nullable()
      .describe(
        'The `token` of an earlier join. If that participant is still in the room or waiting, joining again returns ' +
          'the same participant. If they left the room within the last hour, they do not wait to be admitted again. ' +
          'Otherwise the token is ignored, except by moderation. A user who is still present is recognized without it',
      )
      .optional(),
  })
  .meta({ id: 'JoinRoomRequest' });
export type JoinInput = z.infer<typeof JoinInput>;

export const ListParticipantsInput = z.object({
  name: roomName,
  status: z.enum(participantStatuses).describe('Default: participants who are waiting or have joined').optional(),
  ...ListPageInput.shape,
});
export type ListParticipantsInput = z.infer<typeof ListParticipantsInput>;

export const ParticipantInput = z.object({ name: roomName, participantId: requestedId.describe('Participant ID') });
export type ParticipantInput = z.infer<typeof ParticipantInput>;

export const ParticipantAnswer = z.object({ participant: Participant }).meta({ id: 'ParticipantResponse' });
export const ParticipantsAnswer = z
  .object({ participants: z.array(ListedParticipant), next_cursor: nextCursor })
  .meta({ id: 'ParticipantList' });
export const WaitingParticipantsAnswer = z
  .object({ participants: z.array(WaitingParticipant), next_cursor: nextCursor })
  .meta({ id: 'WaitingParticipantList' });
export const PresenceAnswer = z
  .object({ participant: OwnParticipant, media: nullableMedia })
  .meta({ id: 'OwnParticipantResponse' });
export type PresenceAnswer = z.infer<typeof PresenceAnswer>;
export const JoinAnswer = z
  .object({ participant: JoinedParticipant, media: nullableMedia })
  .meta({ id: 'JoinRoomResponse' });
export type JoinAnswer = z.infer<typeof JoinAnswer>;

const pageFlag = (name: string, what: string) =>
  optional(z.literal([0, 1, false, true], { error: `${name} must be 1 or 0` }).describe(`1 or true while ${what}`));

/** What a heartbeat may say about the page that sends it. */
export const PresenceInput = z
  .object({
    connection_id: optional(connectionId),
    microphone: pageFlag('microphone', 'the microphone is on'),
    camera: pageFlag('camera', 'the camera is on'),
    screen: pageFlag('screen', 'the screen is shared'),
  })
  .refine(({ connection_id, ...flags }) => connection_id || Object.values(flags).every((one) => one === undefined), {
    path: ['connection_id'],
    error: 'connection_id is required with microphone, camera and screen',
  })
  .meta({ id: 'PresenceRequest' });
export type PresenceInput = z.infer<typeof PresenceInput>;

export const PresenceStreamParams = z.object({ roomName });

/** The input of the stream, besides the room and the token. Without `peers`, `connection_id` is ignored. */
export const LiveInput = z.object({
  peers: z.boolean().describe('Also sends the other participants of the room, and their signals').optional(),
  connection_id: connectionId.optional(),
});
export type LiveInput = z.infer<typeof LiveInput>;

export const PresenceStreamQuery = z.object({
  token: z
    .string()
    .optional()
    .describe('The token that joining returned; can be sent in the Authorization header instead'),
  peers: z
    .enum(['0', '1'], { error: 'peers must be 1 or 0' })
    .describe('1 also sends the other participants of the room, and their signals')
    .optional(),
  connection_id: connectionId.optional(),
});

const states = [
  'participant.waiting',
  'participant.joined',
  'participant.refused',
  'participant.left',
  'participant.removed',
  'room.closed',
  'room.deleted',
] as const;

/**
 * The state of a visit, on a participant's stream. The stream ends after any state other than `participant.waiting` and
 * `participant.joined`, and after `connection.replaced`, which only a stream with peers sends.
 */
export const PresenceState = z.object({
  event: z.enum([...states, 'connection.replaced']),
  timestamp: z.string(),
  data: z.object({
    participant: OwnParticipant.nullable().describe('null if the room was deleted or the connection was replaced'),
    media: nullableMedia.describe('Only with `peers`').optional(),
  }),
});
export type PresenceState = z.infer<typeof PresenceState>;

/** The other participants in the room, on a stream with peers. */
export const PeersMessage = z.object({
  event: z.literal('peers'),
  timestamp: z.string(),
  data: z.object({
    peers: z.array(Peer),
    recording: RunningRecording.nullable().describe('The recording that is running in the room'),
    failed_recording: FailedRecording.nullable().describe(
      'The newest recording that failed, if the participant was there while it ran and none has started since',
    ),
    chat: flag.describe('0 if the hosts have switched the chat off'),
  }),
});
export type PeersMessage = z.infer<typeof PeersMessage>;

/** A signal from another page in the meeting, on a stream with peers. */
export const SignalMessage = z.object({
  event: z.literal('signal'),
  timestamp: z.string(),
  data: z.object({
    id: z.number().describe('A signal that is sent again after a reconnect has the same ID'),
    from: id.describe('The ID of the participant who sent it'),
    from_connection_id: z.string(),
    data: z.string(),
  }),
});
export type SignalMessage = z.infer<typeof SignalMessage>;

/** A host asks everybody to mute, on a stream with peers. */
export const MuteMessage = z.object({
  event: z.literal('mute.requested'),
  timestamp: z.string(),
  data: z.object({ name: z.string().describe('The name of the host') }),
});
export type MuteMessage = z.infer<typeof MuteMessage>;

/** A message on a participant's stream. Those other than `PresenceState` are sent only with `peers`. */
export type PresenceMessage = PresenceState | PeersMessage | SignalMessage | MuteMessage;
