import type { Caller } from '../../auth/identify.ts';
import { Prisma } from '../../db/client.ts';
import { limitOffset } from '../../db/limit-offset.ts';
import type { Services } from '../../services.ts';
import {
  type ParticipantRow,
  participantColumns,
  participantTables,
  toParticipantRecord,
} from './participant-record.ts';
import { toParticipant } from './present.ts';
import { findHostAccess } from './room-access.ts';
import type { ListParticipantsInput, Participant } from './schemas.ts';

/**
 * Lists the participants of a room with this status, or without `status` those who are waiting or have joined, newest
 * first. Throws 404 "Room not found", also for a caller who is not a host of the room.
 */
export async function listParticipants(
  { db }: Pick<Services, 'db'>,
  caller: Caller,
  { name, status, ...page }: ListParticipantsInput,
): Promise<Participant[]> {
  const { workspaceId, roomId } = await findHostAccess(db.sql, caller, name);
  const hasStatus =
    status === undefined ? Prisma.sql`p.status in ('waiting', 'joined')` : Prisma.sql`p.status = ${status}`;
  const rows = await db.$queryRaw<ParticipantRow[]>`
    select ${participantColumns} from ${participantTables}
    where p.workspace_id = ${workspaceId} and p.room_id = ${roomId} and ${hasStatus}
    order by p.created_at desc, p.id desc ${limitOffset(page)}`;
  return rows.map((row) => toParticipant(toParticipantRecord(row)));
}
