/** People whom a host has removed. If they come back to the same meeting, they wait to be admitted. */
import { HOUR_MS } from '../../core/time.ts';
import { int, nullable, type Sql, statement, text } from '../../db/statements.ts';
import { toContactAddress } from '../contacts/contact-address.ts';
import type { ParticipantRecord } from './participant-record.ts';

/** How long a removal lasts. After this time, the meeting is assumed to be over even if nobody closed it. */
export const BAR_MS = 24 * HOUR_MS;

// Selects the same people as the database function `check_room_entry`.
const liftOne = statement('lift-bar', {
  params: { workspaceId: int, roomId: int, id: int, userId: nullable(int), address: nullable(text), name: text },
  sql: `
    update participants p set barred_until = null
    where p.workspace_id = $workspaceId and p.room_id = $roomId and p.barred_until is not null
      and (p.id = $id or p.user_id = $userId or lower(trim(p.email)) = $address
        or ($userId is null and lower(p.name) = lower($name)))`,
});

const liftAll = statement('lift-bars-of-room', {
  params: { workspaceId: int, roomId: int },
  sql: `
    update participants set barred_until = null
    where workspace_id = $workspaceId and room_id = $roomId and barred_until is not null`,
});

/** Allows a person who was removed to join again without waiting. Call it with the workspace locked. */
export async function liftBar(
  sql: Sql,
  { workspaceId, roomId, id, userId, email, name }: ParticipantRecord,
): Promise<void> {
  await sql.run(liftOne, { workspaceId, roomId, id, userId, address: toContactAddress(email), name });
}

/** Allows everyone who was removed from the room to join again without waiting. Call it with the workspace locked. */
export async function liftBars(sql: Sql, room: { workspaceId: number; roomId: number }): Promise<void> {
  await sql.run(liftAll, room);
}
