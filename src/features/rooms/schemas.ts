import { z } from 'zod';
import { isSlug, slugFormat } from '../../core/slugs.ts';
import { hexColor, id, multilineText, singleLineText, unixSeconds } from '../../core/validation.ts';

const MAX_DISPLAY_NAME = 100;
const MAX_MESSAGE = 1000;
const MAX_SESSION = 200;
export const DEFAULT_COLOR = '#6366f1';

export const Room = z
  .object({
    id,
    workspace_id: id.describe('The workspace that the room belongs to'),
    name: z.string().describe('Unique slug').meta({ example: 'amber-falcon' }),
    user_id: id.describe('User ID of the owner'),
    display_name: z.string().nullable().describe('What people call the room; null: only its name'),
    created_at: unixSeconds,
    last_used_at: unixSeconds,
    recording_count: z.int(),
    scheduled_at: z.number().nullable().describe('Unix timestamp in seconds of a scheduled meeting'),
    accent_color: z.string().describe('Hex color for branding').meta({ example: DEFAULT_COLOR }),
    waiting_room_enabled: z.int().min(0).max(1).describe('1 enabled, 0 disabled'),
    waiting_room_message: z.string().nullable().describe('Shown to waiting participants'),
    session_id: z.string().nullable().describe('What a meeting provider calls the room; null: its name'),
  })
  .meta({ id: 'Room', description: 'A meeting room' });
export type Room = z.infer<typeof Room>;

/** What a room shows of itself to whoever has its name. */
export const PublicRoom = Room.pick({
  name: true,
  display_name: true,
  accent_color: true,
  waiting_room_enabled: true,
  scheduled_at: true,
}).meta({ id: 'PublicRoom', description: 'A room as it is before one joins' });
export type PublicRoom = z.infer<typeof PublicRoom>;

/** A name in a path: one that cannot be a room's is as unknown as any other. */
export const RoomInput = z.object({ name: z.string().describe('Name of the room') });
export type RoomInput = z.infer<typeof RoomInput>;

const INVALID_NAME = 'Invalid room name';

const settings = {
  scheduled_at: z
    .number()
    .nullable()
    .describe('Unix timestamp in seconds of a scheduled meeting; null clears it')
    .optional(),
  accent_color: hexColor.describe('Hex color for branding').meta({ example: DEFAULT_COLOR }).optional(),
  waiting_room_enabled: z
    .union([z.literal([0, 1]), z.boolean()], { error: 'waiting_room_enabled must be 1 or 0' })
    .describe('1 or true: participants wait until they are let in')
    .optional(),
  waiting_room_message: multilineText(MAX_MESSAGE)
    .nullable()
    .describe(`Shown to waiting participants; at most ${MAX_MESSAGE} characters; null clears it`)
    .optional(),
  display_name: singleLineText(MAX_DISPLAY_NAME)
    .nullable()
    .describe(`What people call the room; at most ${MAX_DISPLAY_NAME} characters; null or blank clears it`)
    .optional(),
  session_id: singleLineText(MAX_SESSION)
    .nullable()
    .describe(
      `What a meeting provider calls the room, where that is not its name; at most ${MAX_SESSION} characters, unique in the workspace; null or blank clears it`,
    )
    .optional(),
};
export type RoomSettings = z.infer<z.ZodObject<typeof settings>>;

export const CreateRoomInput = z.object({
  name: z
    .string({ error: INVALID_NAME })
    .refine(isSlug, { error: INVALID_NAME })
    .describe('2 to 64 of a-z, 0-9 and single inner hyphens; generated when omitted')
    .meta({ ...slugFormat, example: 'amber-falcon' })
    .optional(),
  ...settings,
  workspace_id: id
    .describe("The workspace to create it in; when omitted, the key's workspace, else the caller's Personal")
    .optional(),
});
export type CreateRoomInput = z.infer<typeof CreateRoomInput>;

export const UpdateRoomInput = RoomInput.extend(settings);
export type UpdateRoomInput = z.infer<typeof UpdateRoomInput>;

export const RoomsAnswer = z.object({ rooms: z.array(Room) });
export const RoomAnswer = z.object({ room: Room });
export const PublicRoomInput = z.object({ roomName: z.string().describe('Name of the room') });
export type PublicRoomInput = z.infer<typeof PublicRoomInput>;

export const PublicRoomAnswer = z.object({ room: PublicRoom });
export const RoomName = z.object({ name: z.string().meta({ example: 'amber-falcon' }) });
export type RoomName = z.infer<typeof RoomName>;
