/** Writes the settings of a room to the database. */
import { badField, conflict } from '../../core/errors.ts';
import { Prisma } from '../../db/client.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import type { Settings } from '../../services.ts';
import type { RoomSettings } from './schemas.ts';

/** The assignments of an `update` for the settings in the input. */
export function toAssignments(settings: RoomSettings): Prisma.Sql[] {
  const { scheduled_at, accent_color, waiting_room_enabled, waiting_room_message, display_name, session_id } = settings;
  const { media, relay_only, chat_enabled } = settings;
  const { max_participants, members_only, recordings_visible_to, who_may_record } = settings;
  return [
    ...(scheduled_at === undefined ? [] : [Prisma.sql`scheduled_at = ${scheduled_at}::float8`]),
    ...(accent_color === undefined ? [] : [Prisma.sql`accent_color = ${accent_color}`]),
    ...(waiting_room_enabled === undefined
      ? []
      : [Prisma.sql`waiting_room_enabled = ${Boolean(waiting_room_enabled)}`]),
    ...(waiting_room_message === undefined ? [] : [Prisma.sql`waiting_room_message = ${waiting_room_message}`]),
    ...(display_name === undefined ? [] : [Prisma.sql`display_name = ${blankToNull(display_name)}`]),
    ...(session_id === undefined ? [] : [Prisma.sql`session_id = ${blankToNull(session_id)}`]),
    ...(media === undefined ? [] : [Prisma.sql`media = ${media}`]),
    ...(relay_only === undefined ? [] : [Prisma.sql`relay_only = ${Boolean(relay_only)}`]),
    ...(chat_enabled === undefined ? [] : [Prisma.sql`chat_enabled = ${Boolean(chat_enabled)}`]),
    ...(max_participants === undefined ? [] : [Prisma.sql`max_participants = ${max_participants}::int`]),
    ...(members_only === undefined ? [] : [Prisma.sql`members_only = ${Boolean(members_only)}`]),
    ...(recordings_visible_to === undefined ? [] : [Prisma.sql`recordings_visible_to = ${recordings_visible_to}`]),
    ...(who_may_record === undefined ? [] : [Prisma.sql`who_may_record = ${who_may_record}`]),
  ];
}

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
