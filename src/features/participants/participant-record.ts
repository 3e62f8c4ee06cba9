/** A participant with the name of their room, as this feature reads them from the database. */
import { notFound } from '../../core/errors.ts';
import { Prisma, type Tx } from '../../db/client.ts';
import { type ParticipantStatus, toParticipantStatus } from './participant-status.ts';

export type ParticipantKey = { workspaceId: number; roomId: number; id: number };

export type ParticipantRecord = ParticipantKey & {
  roomName: string;
  name: string;
  email: string | null;
  userId: number | null;
  contactId: number | null;
  status: ParticipantStatus;
  createdAt: Date;
  joinedAt: Date | null;
  leftAt: Date | null;
  /** The last heartbeat, or the time of creation or joining if that is later. */
  lastSeenAt: Date;
};

export type ParticipantRow = Omit<ParticipantRecord, 'status'> & { status: string };

/** The columns of a ParticipantRow, of the participant `p` in the room `r`. */
export const participantColumns = Prisma.sql`
  p.id, p.workspace_id as "workspaceId", p.room_id as "roomId", r.name as "roomName", p.name, p.email,
  p.user_id as "userId", p.contact_id as "contactId", p.status, p.created_at as "createdAt", p.joined_at as "joinedAt",
  p.left_at as "leftAt", p.last_seen_at as "lastSeenAt"`;

/** The participants `p` joined with their rooms `r`. */
export const participantTables = Prisma.sql`
  participants p join rooms r on r.workspace_id = p.workspace_id and r.id = p.room_id`;

export function toParticipantRecord(row: ParticipantRow): ParticipantRecord {
  return { ...row, status: toParticipantStatus(row.status) };
}

/** Locks the participant's row until the transaction ends. Throws 404 "Participant not found". */
export async function lockParticipant(tx: Tx, { workspaceId, roomId, id }: ParticipantKey): Promise<ParticipantRecord> {
  const [row] = await tx.$queryRaw<ParticipantRow[]>`
    select ${participantColumns} from ${participantTables}
    where p.workspace_id = ${workspaceId} and p.room_id = ${roomId} and p.id = ${id} for no key update of p`;
  if (!row) throw notFound('Participant');
  return toParticipantRecord(row);
}
