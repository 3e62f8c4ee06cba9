import { z } from 'zod';
import { ListPageInput } from '../../core/list-page.ts';
import { email, id, MAX_NAME_LENGTH, singleLineText, unixSeconds } from '../../core/validation.ts';
import { participantStatuses } from './participant-status.ts';

const roomName = z.string().describe('Name of the room');
const status = z
  .enum(participantStatuses)
  .describe('waiting until let in (joined) or not (refused); left in the end. refused and left are final');
const joinedAt = unixSeconds.nullable().describe('Unix timestamp in seconds; null: not (yet) let in');

export const Participant = z
  .object({
    id,
    name: z.string(),
    email: z.string().nullable().describe('null: a guest who gave none'),
    user_id: id.nullable().describe('User ID of who is signed in; null: a guest'),
    contact_id: id.nullable().describe('The contact that they became by joining; null without an email address'),
    status,
    created_at: unixSeconds.describe('When they asked to join, Unix timestamp in seconds'),
    joined_at: joinedAt,
    left_at: unixSeconds.nullable().describe('Unix timestamp in seconds; null: not (yet) left'),
  })
  .meta({ id: 'Participant', description: 'Somebody in a room, waiting before it, or who was there' });
export type Participant = z.infer<typeof Participant>;

export const OwnParticipant = z
  .object({
    id,
    room_name: z.string(),
    name: z.string(),
    status,
    waiting_room_message: z.string().nullable().describe("The room's message; null but for those who wait"),
    joined_at: joinedAt,
    created_at: unixSeconds.describe('When they asked to join, Unix timestamp in seconds'),
  })
  .meta({ id: 'OwnParticipant', description: 'A participant of a room, as they see themself' });
export type OwnParticipant = z.infer<typeof OwnParticipant>;

const JoinedParticipant = OwnParticipant.extend({
  token: z
    .string()
    .describe('What the other operations of the room know the participant by. Begins with `lnp_`; shown only here'),
}).meta({ id: 'JoinedParticipant', description: 'A participant of a room, with the token that is theirs alone' });
export type JoinedParticipant = z.infer<typeof JoinedParticipant>;

export const JoinInput = z.object({
  roomName,
  name: singleLineText(MAX_NAME_LENGTH)
    .nullable()
    .describe(
      `How to be called, at most ${MAX_NAME_LENGTH} characters; required of a guest, the account's where a user leaves it out`,
    )
    .meta({ example: 'Vera Novak' })
    .optional(),
  email: email
    .nullable()
    .describe("A guest's email address, by which they are known as a contact; a user's is always the account's")
    .meta({ example: 'vera@example.com' })
    .optional(),
});
export type JoinInput = z.infer<typeof JoinInput>;

export const ListParticipantsInput = z.object({
  name: roomName,
  status: z.enum(participantStatuses).describe('Only these; without it those who wait and who joined').optional(),
  ...ListPageInput.shape,
});
export type ListParticipantsInput = z.infer<typeof ListParticipantsInput>;

export const ParticipantInput = z.object({ name: roomName, participantId: id.describe('Participant ID') });
export type ParticipantInput = z.infer<typeof ParticipantInput>;

export const ParticipantAnswer = z.object({ participant: Participant });
export const ParticipantsAnswer = z.object({ participants: z.array(Participant) });
export const PresenceAnswer = z.object({ participant: OwnParticipant });
export const JoinAnswer = z.object({ participant: JoinedParticipant });
