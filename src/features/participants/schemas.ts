import { z } from 'zod';
import { ListPageInput, nextCursor } from '../../core/list-page.ts';
import { requestedId } from '../../core/requested-id.ts';
import { email, flag, id, MAX_NAME_LENGTH, singleLineText, unixSeconds } from '../../core/validation.ts';
import { endReasons, participantStatuses } from './participant-status.ts';

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
}).meta({ id: 'ListedParticipant', description: 'A participant, as shown to a host of the room' });
export type ListedParticipant = z.infer<typeof ListedParticipant>;

export const OwnParticipant = z
  .object({
    id,
    room_name: z.string(),
    name: z.string(),
    status,
    end_reason: endReason,
    room_locked: flag.describe('1 while the room is locked by a host, so that nobody new can join; otherwise 0'),
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
export const PresenceAnswer = z.object({ participant: OwnParticipant }).meta({ id: 'OwnParticipantResponse' });
export const JoinAnswer = z.object({ participant: JoinedParticipant }).meta({ id: 'JoinRoomResponse' });

export const PresenceStreamParams = z.object({ roomName });
export const PresenceStreamQuery = z.object({
  token: z
    .string()
    .optional()
    .describe('The token that joining returned; can be sent in the Authorization header instead'),
});

/**
 * A message on a participant's stream. The stream ends after any message other than `participant.waiting` and
 * `participant.joined`.
 */
export const PresenceMessage = z.object({
  event: z.enum([
    'participant.waiting',
    'participant.joined',
    'participant.refused',
    'participant.left',
    'participant.removed',
    'room.closed',
    'room.deleted',
  ]),
  timestamp: z.string(),
  data: z.object({ participant: OwnParticipant.nullable().describe('null if the room was deleted') }),
});
export type PresenceMessage = z.infer<typeof PresenceMessage>;
