/** Reads participants, with the names of their rooms, from the database. */
import { notFound } from '../../core/errors.ts';
import type { Metadata } from '../../core/metadata.ts';
import { bool, int, json, nullable, type RowOf, type Sql, statement, text, time } from '../../db/statements.ts';
import { type EndReason, type ParticipantStatus, toEndReason, toParticipantStatus } from './participant-status.ts';

export type ParticipantKey = { workspaceId: number; roomId: number; id: number };

export type ParticipantRecord = Omit<ParticipantRow, 'status' | 'endReason'> & {
  status: ParticipantStatus;
  endReason: EndReason | null;
};

/**
 * The columns of `selectColumns`. `lastSeenAt` is the time of the last heartbeat or, if none was stored, the time
 * when the person asked to join or joined. Until `barredUntil`, a person who was removed can join only after being
 * admitted. `isHost` and `isMember` are about the room and its workspace at this moment.
 */
export const participantReturns = {
  id: int,
  workspaceId: int,
  roomId: int,
  roomName: text,
  name: text,
  email: nullable(text),
  userId: nullable(int),
  contactId: nullable(int),
  status: text,
  createdAt: time,
  joinedAt: nullable(time),
  leftAt: nullable(time),
  lastSeenAt: time,
  endReason: nullable(text),
  barredUntil: nullable(time),
  roomLocked: bool,
  isHost: bool,
  isMember: bool,
  mayRecord: nullable(bool),
  externalId: nullable(text),
  metadata: nullable(json<Metadata>()),
};

/** Whether a user is a host of the room `r`. `userId` is an expression, which may be null. */
export function isHostOf(userId: string): string {
  return `coalesce(r.user_id = ${userId} or exists (
    select from members a
    where a.workspace_id = r.workspace_id and a.user_id = ${userId} and a.role in ('owner', 'admin')), false)`;
}

/**
 * Whether the participant with this alias is a host of the room `r`: as a user, or by a pass at the time `at`. Both are
 * expressions. Without a time, the expiry of the pass does not count.
 */
export function isHostParticipant(alias: string, at = 'null'): string {
  return `(${isHostOf(`${alias}.user_id`)} or (${alias}.pass_id is not null
    and is_pass_host(${alias}.workspace_id, ${alias}.pass_id, ${at}::timestamptz)))`;
}

/** Whether a user is a member of the workspace of the room `r`. */
export function isMemberOf(userId: string): string {
  return `exists (select from members a where a.workspace_id = r.workspace_id and a.user_id = ${userId})`;
}

/** What the pass says about recording; null if the setting of the room decides. */
const mayRecord = `(
    select q.may_record from room_passes q where q.workspace_id = p.workspace_id and q.id = p.pass_id)`;

/** The columns of the participant `p` in the room `r`. `at` is the time, an expression, as for `isHostParticipant`. */
export function selectColumns(at?: string): string {
  return `
  p.id, p.workspace_id as "workspaceId", p.room_id as "roomId", r.name as "roomName", p.name, p.email,
  p.user_id as "userId", p.contact_id as "contactId", p.status, p.created_at as "createdAt", p.joined_at as "joinedAt",
  p.left_at as "leftAt", p.last_seen_at as "lastSeenAt", p.end_reason as "endReason", p.barred_until as "barredUntil",
  r.locked_at is not null as "roomLocked", ${isHostParticipant('p', at)} as "isHost",
  ${isMemberOf('p.user_id')} as "isMember", ${mayRecord} as "mayRecord", p.external_id as "externalId", p.metadata`;
}

/** The `from` clause: the participants `p` joined with their rooms `r`. */
export const withRooms = 'participants p join rooms r on r.workspace_id = p.workspace_id and r.id = p.room_id';

const lockOne = statement('lock-participant', {
  params: { workspaceId: int, roomId: int, id: int },
  returns: participantReturns,
  sql: `
    select ${selectColumns()} from ${withRooms}
    where p.workspace_id = $workspaceId and p.room_id = $roomId and p.id = $id for no key update of p`,
});

export type ParticipantRow = RowOf<typeof lockOne>;

export function toParticipantRecord(row: ParticipantRow): ParticipantRecord {
  return {
    ...row,
    status: toParticipantStatus(row.status),
    endReason: row.endReason === null ? null : toEndReason(row.endReason),
  };
}

/** Locks the participant's row until the transaction ends. Throws 404 "Participant not found". */
export async function lockParticipant(
  sql: Sql,
  { workspaceId, roomId, id }: ParticipantKey,
): Promise<ParticipantRecord> {
  const [row] = await sql.run(lockOne, { workspaceId, roomId, id });
  if (!row) throw notFound('Participant');
  return toParticipantRecord(row);
}
