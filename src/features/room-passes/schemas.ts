import { z } from 'zod';
import { ListPageInput, nextCursor } from '../../core/list-page.ts';
import { externalId, metadata, newMetadata } from '../../core/metadata.ts';
import { requestedId } from '../../core/requested-id.ts';
import {
  email,
  exactText,
  flag,
  id,
  integerBetween,
  LAST_SECOND,
  MAX_NAME_LENGTH,
  optional,
  requiredText,
  unixSeconds,
} from '../../core/validation.ts';

export const MAX_PASS_DAYS = 30;
export const MAX_PASSES_PER_ROOM = 5_000;
const MAX_EXTERNAL_ID_LENGTH = 200;

const linkToken = z
  .string()
  .describe('Works once. Begins with `lnj_`')
  .meta({ example: `lnj_${'A'.repeat(43)}` });

function flagInput(name: string, what: string) {
  return optional(z.literal([0, 1, false, true], { error: `${name} must be 1 or 0` }).describe(what));
}

export const CreateParticipantInput = z
  .object({
    roomName: z.string().describe('Name of the room'),
    name: requiredText(MAX_NAME_LENGTH, 'Name is required')
      .describe(`The name that the others see, at most ${MAX_NAME_LENGTH} characters`)
      .meta({ example: 'Vera Novak' }),
    email: optional(email.describe('Matches the person to a contact').meta({ example: 'vera@example.com' })),
    external_id: optional(
      exactText(MAX_EXTERNAL_ID_LENGTH)
        .min(1, { error: 'external_id must not be blank' })
        .describe(
          `The id of the person in your product, at most ${MAX_EXTERNAL_ID_LENGTH} characters. A room has one pass, ` +
            'and one present participant, for an id. Default: every call makes another person',
        )
        .meta({ example: 'patient-4711' }),
    ),
    is_host: flagInput(
      'is_host',
      '1 or true: a host of the room, as long as the maker of the pass is owner or admin and the key or app with ' +
        'which it was made works. Default: 0',
    ),
    admitted: flagInput('admitted', '1 or true: does not wait in the waiting room. Default: 0'),
    may_record: flagInput(
      'may_record',
      '1 or true: may record, 0 or false: may not. Default: `who_may_record` of the room decides',
    ),
    expires_at: optional(
      integerBetween(0, LAST_SECOND).describe(
        `Until when the person can enter, as a Unix timestamp in seconds, in the future and at most ${MAX_PASS_DAYS} ` +
          'days ahead. Default: a day. A visit that has begun goes on, without the rights of a host',
      ),
    ),
    metadata: optional(newMetadata),
  })
  .meta({ id: 'CreateParticipantRequest' });
export type CreateParticipantInput = z.infer<typeof CreateParticipantInput>;

export const ExpectedParticipant = z
  .object({
    id: id.describe('The ID of the pass. Each visit has a participant ID of its own'),
    room_name: z.string(),
    name: z.string(),
    email: z.string().nullable(),
    external_id: externalId,
    is_host: flag,
    admitted: flag,
    may_record: flag.nullable(),
    metadata,
    created_at: unixSeconds,
    expires_at: unixSeconds.describe('Until when the person can enter, Unix timestamp in seconds'),
  })
  .meta({ id: 'ExpectedParticipant', description: 'A person who has a pass for a room, as its maker sees it' });
export type ExpectedParticipant = z.infer<typeof ExpectedParticipant>;

export const CreatedParticipant = z
  .object({
    participant: ExpectedParticipant,
    token: linkToken,
    join_url: z
      .string()
      .describe('The page of the room, with the token in the fragment, which browsers send to no server'),
  })
  .meta({ id: 'CreatedParticipantResponse' });
export type CreatedParticipant = z.infer<typeof CreatedParticipant>;

const roomName = z.string().describe('Name of the room');

export const ListPassesInput = ListPageInput.extend({ roomName });
export type ListPassesInput = z.infer<typeof ListPassesInput>;

export const PassInput = z.object({ roomName, passId: requestedId.describe('Pass ID: `participant.id` of its maker') });
export type PassInput = z.infer<typeof PassInput>;

export const RoomPass = ExpectedParticipant.extend({
  is_used: flag.describe('1 if the link has been used: the person comes back with the token of the visit'),
  created_by: id.nullable().describe('ID of the user who made it, or whose key did; null if the account was deleted'),
  created_by_name: z.string().nullable().describe('Display name of that user'),
}).meta({ id: 'RoomPass', description: 'A pass for a room' });
export type RoomPass = z.infer<typeof RoomPass>;

export const RoomPassesAnswer = z
  .object({ passes: z.array(RoomPass), next_cursor: nextCursor })
  .meta({ id: 'RoomPassList' });

export const ExchangeInput = z.object({ roomName, token: linkToken }).meta({ id: 'ExchangeTokenRequest' });
export type ExchangeInput = z.infer<typeof ExchangeInput>;
