import { z } from 'zod';
import { createdRange, searchIn } from '../../core/list-filters.ts';
import { ListPageInput, nextCursor } from '../../core/list-page.ts';
import { requestedId } from '../../core/requested-id.ts';
import { isSlug, slugFormat } from '../../core/slugs.ts';
import {
  count,
  exactText,
  flag,
  hexColor,
  id,
  integerBetween,
  multilineText,
  optional,
  singleLineText,
  unixSeconds,
} from '../../core/validation.ts';
import { Branding } from '../branding/public-branding.ts';

const MAX_DISPLAY_NAME_LENGTH = 100;
const MAX_MESSAGE_LENGTH = 1000;
const MAX_SESSION_ID_LENGTH = 200;
const MAX_PARTICIPANT_LIMIT = 1000;
export const DEFAULT_COLOR = '#6366f1';

/** Who may watch the recordings of a room: all members of its workspace, or only the hosts of the room. */
export const recordingViewers = ['members', 'hosts'] as const;
export type RecordingViewers = (typeof recordingViewers)[number];

/** Which participants may record in a room. */
export const recorders = ['everyone', 'members', 'hosts'] as const;
export type Recorders = (typeof recorders)[number];

const viewers = z
  .enum(recordingViewers)
  .describe('Who can watch the recordings of the room: `members` of the workspace, or only the `hosts` of the room');
const mayRecord = z
  .enum(recorders)
  .describe(
    'Which participants can record: `everyone`, `members` of the workspace, or only the `hosts` of the room. A ' +
      'recording that is running goes on when this changes',
  );

export const Room = z
  .object({
    id,
    workspace_id: id.describe('Workspace ID'),
    name: z.string().describe('Unique slug').meta({ example: 'amber-falcon' }),
    user_id: id.describe('ID of the user that the room belongs to'),
    display_name: z.string().nullable().describe('The name to show to people; null if not set'),
    created_at: unixSeconds,
    last_used_at: unixSeconds,
    recording_count: count,
    scheduled_at: z.number().nullable().describe('When the scheduled meeting starts, Unix timestamp in seconds'),
    accent_color: z.string().describe('Hex color for branding').meta({ example: DEFAULT_COLOR }),
    waiting_room_enabled: flag.describe('1 enabled, 0 disabled'),
    waiting_room_message: z.string().nullable().describe('Shown to waiting participants'),
    session_id: z
      .string()
      .nullable()
      .describe('ID of the room at the meeting provider; null if the provider uses the name of the room'),
    locked: flag.describe('1 while the room is locked by a host, so that nobody new can join; otherwise 0'),
    media: z
      .literal('mesh')
      .nullable()
      .describe('`mesh`: browsers connect to each other, whatever else would carry the meeting'),
    relay_only: flag.describe('1: browsers connect only through TURN servers; otherwise 0'),
    chat_enabled: flag.describe('0 if the chat of meetings is switched off, otherwise 1'),
    max_participants: count
      .nullable()
      .describe('How many people can be in the room at once, besides hosts who join later; null without a limit'),
    members_only: flag.describe('1 if only members of the workspace can join; otherwise 0'),
    recordings_visible_to: viewers,
    who_may_record: mayRecord,
  })
  .meta({ id: 'Room', description: 'A meeting room' });
export type Room = z.infer<typeof Room>;

/** The fields that anyone who knows the name of a room can read. */
export const PublicRoom = Room.pick({
  name: true,
  display_name: true,
  accent_color: true,
  waiting_room_enabled: true,
  scheduled_at: true,
  locked: true,
  members_only: true,
  recordings_visible_to: true,
  who_may_record: true,
})
  .extend({
    branding: Branding.describe('How the workspace of the room looks to its guests'),
    media: z
      .enum(['mesh', 'livekit', 'none'])
      .describe(
        '`mesh`: browsers connect to each other; `livekit`: a LiveKit server carries the meeting; ' +
          '`none`: a meeting provider carries the meeting elsewhere',
      ),
    full: flag.describe(
      '1 while all places in the meeting that the caller may take are taken, otherwise 0. `max_participants` does ' +
        'not keep hosts out, and one more place is for a host',
    ),
    relay_only: flag.describe('1 if browsers connect only through TURN servers, otherwise 0'),
    recorded: flag.describe(
      '1 while a recording is running in the room, and the person who started it is there; otherwise 0',
    ),
    recorded_by: z
      .string()
      .nullable()
      .describe(
        'The name of the participant who started this recording; null if nobody in the room did, and in a room that ' +
          'only members enter',
      ),
    must_wait: flag.describe(
      '1 if the caller must wait until a host admits them, 0 if they join at once. Hosts and members of the ' +
        'workspace do not wait, unless a host has removed them',
    ),
    is_member: flag.describe('1 if the caller is a member of the workspace of the room; 0 without a session'),
  })
  .meta({ id: 'PublicRoom', description: 'The public fields of a room' });
export type PublicRoom = z.infer<typeof PublicRoom>;

/** A room name in a path. An invalid name is not rejected, because no room has it and the result is 404 anyway. */
export const RoomInput = z.object({ name: z.string().describe('Name of the room') });
export type RoomInput = z.infer<typeof RoomInput>;

const INVALID_NAME = 'Invalid room name';

/** The year 5138. A greater number is a time in milliseconds. */
const MAX_SCHEDULED_AT = 1e11;

const settings = {
  scheduled_at: z
    .number()
    .refine((seconds) => seconds <= MAX_SCHEDULED_AT, { error: 'scheduled_at must be in seconds' })
    .meta({ maximum: MAX_SCHEDULED_AT })
    .nullable()
    .describe('When the scheduled meeting starts, Unix timestamp in seconds; null clears it')
    .optional(),
  accent_color: optional(hexColor.describe('Hex color for branding').meta({ example: DEFAULT_COLOR })),
  waiting_room_enabled: optional(
    z
      .literal([0, 1, false, true], { error: 'waiting_room_enabled must be 1 or 0' })
      .describe('1 or true: participants wait until they are admitted'),
  ),
  waiting_room_message: multilineText(MAX_MESSAGE_LENGTH)
    .nullable()
    .describe(`Shown to waiting participants; at most ${MAX_MESSAGE_LENGTH} characters; null clears it`)
    .optional(),
  display_name: singleLineText(MAX_DISPLAY_NAME_LENGTH)
    .nullable()
    .describe(`Name to show to people; at most ${MAX_DISPLAY_NAME_LENGTH} characters; null or blank clears it`)
    .optional(),
  session_id: exactText(MAX_SESSION_ID_LENGTH)
    .nullable()
    .describe(
      'ID of the room at the meeting provider, if it differs from the name; at most ' +
        `${MAX_SESSION_ID_LENGTH} characters; unique in the workspace; null or blank clears it`,
    )
    .optional(),
  media: z
    .literal('mesh', { error: 'media must be mesh or null' })
    .nullable()
    .describe(
      '`mesh`: browsers connect to each other, whatever else would carry the meeting; null: a connection of the ' +
        'workspace carries it or, without one, the LiveKit server of the service',
    )
    .optional(),
  relay_only: optional(
    z
      .literal([0, 1, false, true], { error: 'relay_only must be 1 or 0' })
      .describe('1 or true: browsers connect only through TURN servers, so that nobody sees the address of another'),
  ),
  chat_enabled: optional(
    z
      .literal([0, 1, false, true], { error: 'chat_enabled must be 1 or 0' })
      .describe('0 or false switches the chat of meetings off. Default: 1'),
  ),
  max_participants: integerBetween(1, MAX_PARTICIPANT_LIMIT)
    .nullable()
    .describe(
      `How many people can be in the room at once, 1 to ${MAX_PARTICIPANT_LIMIT}; null removes the limit. Hosts ` +
        'can enter a full room. Nobody has to leave when it is lowered',
    )
    .optional(),
  members_only: optional(
    z
      .literal([0, 1, false, true], { error: 'members_only must be 1 or 0' })
      .describe(
        '1 or true: only members of the workspace can join. Others who are waiting are refused; those who are in ' +
          'the room stay',
      ),
  ),
  recordings_visible_to: optional(viewers),
  who_may_record: optional(mayRecord),
};
export type RoomSettings = z.infer<z.ZodObject<typeof settings>>;

export const CreateRoomInput = z
  .object({
    name: optional(
      z
        .string({ error: INVALID_NAME })
        .refine(isSlug, { error: INVALID_NAME })
        .describe(
          '1 to 64 lower-case letters a-z, digits and hyphens, with no hyphen at either end or next to another. ' +
            'Generated when omitted.',
        )
        .meta({ ...slugFormat, example: 'amber-falcon' }),
    ),
    ...settings,
    workspace_id: optional(
      requestedId.describe(
        'Workspace ID. Default: with an API key, its workspace; otherwise the Personal workspace of the caller',
      ),
    ),
    workspaceId: optional(requestedId.describe('The same as `workspace_id`, which it must equal if both are sent')),
  })
  .meta({ id: 'CreateRoomRequest' });
export type CreateRoomInput = z.infer<typeof CreateRoomInput>;

export const UpdateRoomInput = RoomInput.extend(settings).meta({ id: 'UpdateRoomRequest' });
export type UpdateRoomInput = z.infer<typeof UpdateRoomInput>;

export const RecordingsVisibilityInput = z
  .object({ recordings_visible_to: viewers })
  .meta({ id: 'SetRecordingsVisibilityRequest' });
export type RecordingsVisibilityInput = z.infer<typeof RecordingsVisibilityInput>;

export const RecordingsVisibility = z
  .object({ recordings_visible_to: viewers, changed_rooms: count.describe('How many rooms had another value before') })
  .meta({ id: 'RecordingsVisibility', description: 'Who can watch the recordings of all rooms of the workspace' });
export type RecordingsVisibility = z.infer<typeof RecordingsVisibility>;

export const ListRoomsInput = ListPageInput.extend({
  search: searchIn('the name or the display name'),
  ...createdRange,
});
export type ListRoomsInput = z.infer<typeof ListRoomsInput>;

export const ListWorkspaceRoomsInput = ListRoomsInput.extend({
  user_id: id.describe('Only rooms that belong to this user (user ID)').optional(),
  booked: integerBetween(0, 1)
    .meta({ minimum: undefined, maximum: undefined, enum: [0, 1] })
    .describe('0: only rooms that were not made for a booking; 1: only those that were')
    .optional(),
});
export type ListWorkspaceRoomsInput = z.infer<typeof ListWorkspaceRoomsInput>;

export const RoomsAnswer = z.object({ rooms: z.array(Room), next_cursor: nextCursor }).meta({ id: 'RoomList' });
export const RoomAnswer = z.object({ room: Room }).meta({ id: 'RoomResponse' });
export const PublicRoomInput = z.object({ roomName: z.string().describe('Name of the room') });
export type PublicRoomInput = z.infer<typeof PublicRoomInput>;

export const PublicRoomAnswer = z.object({ room: PublicRoom }).meta({ id: 'PublicRoomResponse' });
export const RoomName = z
  .object({ name: z.string().meta({ example: 'amber-falcon' }) })
  .meta({ id: 'RoomNameSuggestion' });
export type RoomName = z.infer<typeof RoomName>;
