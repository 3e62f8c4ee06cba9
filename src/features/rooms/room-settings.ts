/** Writes the settings of a room to the database. */
import { badField, conflict } from '../../core/errors.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { int, json, statement } from '../../db/statements.ts';
import type { Settings } from '../../services.ts';
import type { RoomSettings } from './schemas.ts';

/** The columns of the settings, with their types. */
const columns = {
  scheduled_at: 'float8',
  accent_color: 'text',
  waiting_room_enabled: 'bool',
  waiting_room_message: 'text',
  display_name: 'text',
  session_id: 'text',
  media: 'text',
  relay_only: 'bool',
  chat_enabled: 'bool',
  max_participants: 'int',
  members_only: 'bool',
  recordings_visible_to: 'text',
  who_may_record: 'text',
} as const satisfies Record<keyof RoomSettings, string>;

/** The settings that change. Those that are absent stay as they are. */
export type ChangedSettings = { [Name in keyof RoomSettings]?: string | number | boolean | null };

/** Converts the settings in the input to the values of their columns. */
export function toChanged(settings: RoomSettings): ChangedSettings {
  const { waiting_room_enabled, display_name, session_id, relay_only, chat_enabled, members_only, ...rest } = settings;
  const present = Object.entries(rest).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(present),
    ...(waiting_room_enabled !== undefined && { waiting_room_enabled: Boolean(waiting_room_enabled) }),
    ...(display_name !== undefined && { display_name: blankToNull(display_name) }),
    ...(session_id !== undefined && { session_id: blankToNull(session_id) }),
    ...(relay_only !== undefined && { relay_only: Boolean(relay_only) }),
    ...(chat_enabled !== undefined && { chat_enabled: Boolean(chat_enabled) }),
    ...(members_only !== undefined && { members_only: Boolean(members_only) }),
  };
}

/** Changes a room. Not a call of Prisma, because it rounds numbers such as -1.9099405950367927e+93. */
export const changeSettings = statement('change-room-settings', {
  params: { workspaceId: int, roomId: int, changed: json<ChangedSettings>() },
  sql: `
    update rooms set ${Object.entries(columns)
      .map(
        ([name, type]) =>
          `${name} = case when $changed ? '${name}' then ($changed->>'${name}')::${type} else ${name} end`,
      )
      .join(', ')}
    where workspace_id = $workspaceId and id = $roomId`,
});

/** Throws 400 if the room may use only TURN servers, and there is none: nobody could meet in it. */
export function requireTurn({ meetings }: Pick<Settings, 'meetings'>, { relay_only }: RoomSettings): void {
  if (relay_only && !meetings.hasTurn) throw badField('relay_only', 'relay_only must be 0: there is no TURN server');
}

export function blankToNull(text: string | null | undefined): string | null {
  return text || null;
}

/** Calls `write`, which inserts or updates a room. Throws 409 if another room of the workspace has the session id. */
export async function withUniqueSession<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    // The name is unique too, but inserting a taken name does nothing instead of failing, and no update changes the
    // name.
    if (isUniqueViolation(error)) throw conflict('Session is already used by another room');
    throw error;
  }
}
