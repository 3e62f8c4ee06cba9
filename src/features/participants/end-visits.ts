/** Ends visits on behalf of a host. Call these functions with the room locked, so that nobody joins concurrently. */
import { onlyRow } from '../../db/only-row.ts';
import { int, type Sql, statement, time } from '../../db/statements.ts';
import type { EndReason } from './participant-status.ts';
import { insertLeftEvents } from './visit-events.ts';

type RoomKey = { workspaceId: number; roomId: number };

const removeOne = statement('remove-participant', {
  params: { workspaceId: int, roomId: int, id: int, at: time, barredUntil: time },
  returns: { count: int },
  sql: `
    with gone as (${endVisits('removed', '$barredUntil')} and p.id = $id returning p.*, r.name as room_name),
    left_events as (${insertLeftEvents('v.left_at')})
    select count(*)::int as count from gone`,
});

const barOne = statement('bar-participant', {
  params: { workspaceId: int, id: int, barredUntil: time },
  sql: `
    update participants set end_reason = 'removed', barred_until = $barredUntil
    where workspace_id = $workspaceId and id = $id and status in ('left', 'refused')`,
});

const endAll = statement('end-visits-of-room', {
  params: { workspaceId: int, roomId: int, at: time },
  returns: { left: int, refused: int },
  sql: `
    with gone as (${endVisits('closed', 'null')} returning p.*, r.name as room_name),
    left_events as (${insertLeftEvents('v.left_at')})
    select count(*) filter (where status = 'left')::int as left,
      count(*) filter (where status = 'refused')::int as refused
    from gone`,
});

/** The beginning of an `update` statement for a room's participants who have joined or are waiting. */
function endVisits(reason: EndReason, barredUntil: string): string {
  return `
      update participants p set end_reason = '${reason}', barred_until = ${barredUntil},
        status = case when p.status = 'joined' then 'left' else 'refused' end,
        left_at = case when p.status = 'joined' then greatest($at, p.joined_at) end
      from rooms r
      where p.workspace_id = $workspaceId and p.room_id = $roomId and p.status in ('waiting', 'joined')
        and r.workspace_id = p.workspace_id and r.id = p.room_id`;
}

/**
 * Moves a joined participant to `left`, which emits `room.left`, and a waiting participant to `refused`. If the visit
 * has already ended, the status does not change. In each case, the reason becomes `removed` and the token becomes
 * invalid. Until `barredUntil`, the person can join again only after being admitted.
 */
export async function endVisit(
  sql: Sql,
  at: Date,
  { workspaceId, roomId, id }: RoomKey & { id: number },
  barredUntil: Date,
): Promise<void> {
  const { count } = onlyRow(await sql.run(removeOne, { workspaceId, roomId, id, at, barredUntil }));
  if (count === 0) await sql.run(barOne, { workspaceId, id, barredUntil });
}

/**
 * Moves everyone who has joined to `left`, which emits `room.left` once for each, and everyone who is waiting to
 * `refused`. The reason is `closed`. Returns how many left and how many were refused.
 */
export async function endVisitsOfRoom(sql: Sql, at: Date, room: RoomKey): Promise<{ left: number; refused: number }> {
  return onlyRow(await sql.run(endAll, { ...room, at }));
}
