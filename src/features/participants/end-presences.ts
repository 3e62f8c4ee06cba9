import { int, type Sql, statement, text, time } from '../../db/statements.ts';
import { insertLeftEvents } from './visit-events.ts';

const endAll = statement('end-presences', {
  params: { workspaceId: int, connectionId: int, meeting: text, at: time },
  returns: { count: int },
  sql: `
    with gone as (
      update participants p set status = 'left', left_at = $at from rooms r
      where p.workspace_id = $workspaceId and p.connection_id = $connectionId and p.meeting = $meeting
        and p.status = 'joined' and p.joined_at <= $at and r.workspace_id = p.workspace_id and r.id = p.room_id
      returning p.*, r.name as room_name),
    left_events as (${insertLeftEvents('$at')})
    select count(*)::int as count from gone`,
});

/**
 * Moves participants to `left` at the time `at`, if the connection reported them in the meeting and they had joined by
 * then. Emits `room.left` once for each. Returns how many participants it moved.
 */
export async function endPresences(
  sql: Sql,
  at: Date,
  meeting: { workspaceId: number; connectionId: number; meeting: string },
): Promise<number> {
  const [row] = await sql.run(endAll, { ...meeting, at });
  return row?.count ?? 0;
}
