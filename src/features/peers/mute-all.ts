/** Asks everybody in a meeting to mute. Each page gets the request from its stream, as it gets signals. */
import { int, nullable, type Sql, statement, text, time } from '../../db/statements.ts';

/** Who asks: a user, whether or not they are in the meeting, or a participant with a pass. */
export type MutingHost = { userId: number | null; participantId: number | null };

const requestMute = statement('request-mute', {
  params: {
    workspaceId: int,
    roomId: int,
    userId: nullable(int),
    participantId: nullable(int),
    name: text,
    now: time,
  },
  sql: `
    with pages as (
      select g.workspace_id, g.participant_id, g.connection_id from meeting_pages g
      join participants p on p.workspace_id = g.workspace_id and p.id = g.participant_id
      where g.workspace_id = $workspaceId and g.room_id = $roomId and g.seated_at is not null and g.expires_at > $now
        and not coalesce(p.user_id = $userId or p.id = $participantId, false) and not exists (
          select from meeting_signals s
          where s.workspace_id = g.workspace_id and s.participant_id = g.participant_id
            and s.connection_id = g.connection_id and s.kind = 'mute')
      order by g.participant_id for no key update of g)
    insert into meeting_signals (workspace_id, participant_id, connection_id, kind, data, created_at)
    select workspace_id, participant_id, connection_id, 'mute', $name, $now from pages`,
});

/**
 * Asks the pages in a meeting to mute, except those of the host who asks. A page that has not got an earlier request
 * yet gets only that one.
 */
export async function requestMuteOfRoom(
  sql: Sql,
  now: Date,
  room: { workspaceId: number; roomId: number },
  { userId, participantId, name }: MutingHost & { name: string },
): Promise<void> {
  await sql.run(requestMute, { ...room, userId, participantId, name, now });
}
