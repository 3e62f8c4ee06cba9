/** Applies the end of a meeting, which means that everyone has left. */

import { sqlIn } from '../../../db/sql.ts';
import { int, statement, text, time } from '../../../db/statements.ts';
import { endConnectionsOfMeeting } from '../../participants/visit-connections.ts';
import type { MeetingEvent } from '../adapters/provider-event.ts';
import type { ApplyContext } from './apply-context.ts';
import { findRoom, toMeeting } from './find-room.ts';
import { addUnmatched } from './unmatched-callbacks.ts';

const recordEnd = statement('record-end-of-meeting', {
  params: { workspaceId: int, connectionId: int, meeting: text, at: time },
  sql: `
    insert into meeting_ends (workspace_id, connection_id, meeting, ended_at)
    values ($workspaceId, $connectionId, $meeting, $at)
    on conflict (workspace_id, connection_id, meeting) do update
    set ended_at = greatest(meeting_ends.ended_at, excluded.ended_at)`,
});

/**
 * Ends everyone's connections to the meeting, with the time when the meeting ended, and the visits that have no other
 * connection, which emits `room.left` once for each. Does not change participants who joined later, because they belong
 * to the next meeting in the room. Stores the end of the meeting, so that connections that are reported afterwards can
 * also be ended.
 */
export async function endMeeting(context: ApplyContext, event: MeetingEvent): Promise<void> {
  const { tx, workspaceId, connectionId } = context;
  const { room, at } = event;
  const meeting = toMeeting(room);
  const sql = sqlIn(tx);
  await sql.run(recordEnd, { workspaceId, connectionId, meeting, at });
  const ended = await endConnectionsOfMeeting(sql, at, { workspaceId, connectionId, meeting });
  if (ended === 0 && (await findRoom(context, room)) === null) await addUnmatched(context, event, 'unknown_room');
}
