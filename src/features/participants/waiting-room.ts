/** Admits and refuses waiting participants. The role of the caller is checked with the workspace locked. */
import type { RoomHost } from '../../auth/participants.ts';
import { conflict } from '../../core/errors.ts';
import { transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, int, type Sql, statement, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { carrierColumns, carrierReturns, seatsFor, seatsTaken, toCarrier } from '../peers/media.ts';
import { meetingFull } from '../peers/signals.ts';
import { liftBar } from './bars.ts';
import { markJoined } from './participant-lifecycle.ts';
import {
  isHostParticipant,
  lockParticipant,
  type ParticipantKey,
  type ParticipantRecord,
  withRooms,
} from './participant-record.ts';
import type { ParticipantStatus } from './participant-status.ts';
import { toParticipant } from './present.ts';
import { findHostAccess, lockRoomAccess } from './room-access.ts';
import { requireEntry } from './room-limits.ts';
import type { Participant, ParticipantInput } from './schemas.ts';

const conflicts: Record<Exclude<ParticipantStatus, 'waiting'>, string> = {
  joined: 'The participant has already joined',
  refused: 'The participant has already been refused',
  left: 'The participant has already left',
};

const refuse = statement('refuse-participant', {
  params: { workspaceId: int, id: int },
  sql: `update participants set status = 'refused' where workspace_id = $workspaceId and id = $id`,
});

const findSeats = statement('find-free-seats', {
  params: { workspaceId: int, roomId: int, id: int, now: time },
  returns: { isWaiting: bool, isHost: bool, seatsTaken: int, ...carrierReturns },
  sql: `
    select p.status = 'waiting' as "isWaiting", ${isHostParticipant('p', '$now')} as "isHost",
      ${seatsTaken} as "seatsTaken", ${carrierColumns}
    from ${withRooms}
    where p.workspace_id = $workspaceId and p.room_id = $roomId and p.id = $id`,
});

type Needs = Pick<Services, 'db' | 'clock' | 'settings'>;

/**
 * Admits a waiting participant and emits `room.joined`. If a host removed the person earlier, admitting them lets them
 * join again without waiting. Admitting a participant who has joined changes nothing. Throws 404 "Room not found" and
 * "Participant not found", 409 for a participant who was refused or has left, 409 if the room is full, 409 MEETING_FULL
 * while all places in the meeting are taken, and 403 if the room is only for members and the participant is not one.
 */
export function admitParticipant(services: Needs, host: RoomHost, input: ParticipantInput): Promise<Participant> {
  return asHost(services, host, input, async (sql, key) => {
    if ((await lockParticipant(sql, key)).status === 'waiting') await requireEntry(sql, key);
    await requireFreeSeat(sql, services, key);
    const participant = await markJoined(sql, services.clock.now(), key, services.settings.quotas);
    if (participant.status === 'joined' && participant.barredUntil !== null) await liftBar(sql, participant);
    return requireStatus(participant, 'joined');
  });
}

/** Throws 409 MEETING_FULL if the participant waits, and there is no place in the meeting for them. */
async function requireFreeSeat(sql: Sql, { clock, settings }: Needs, key: ParticipantKey): Promise<void> {
  const [row] = await sql.run(findSeats, { ...key, now: clock.now() });
  if (row?.isWaiting && toCarrier(settings, row).kind === 'mesh' && row.seatsTaken >= seatsFor(row, settings))
    throw meetingFull('All places in the meeting are taken: somebody must leave first');
}

/** Calls `decide` with the workspace locked, if the caller is a host of the room. */
function asHost(
  { db }: Needs,
  host: RoomHost,
  { name, participantId }: ParticipantInput,
  decide: (sql: Sql, key: ParticipantKey) => Promise<Participant>,
): Promise<Participant> {
  return transact(db, async (tx) => {
    const { workspaceId, roomId } = await lockRoomAccess(tx, (sql) => findHostAccess(sql, host, name));
    return decide(sqlIn(tx), { workspaceId, roomId, id: participantId });
  });
}

function requireStatus(participant: ParticipantRecord, wanted: 'joined' | 'refused'): Participant {
  if (participant.status !== wanted && participant.status !== 'waiting') throw conflict(conflicts[participant.status]);
  return toParticipant(participant);
}

/**
 * Refuses a waiting participant. Refusing a participant again changes nothing. Throws 404 "Room not found" and
 * "Participant not found", and 409 for a participant who has joined or left.
 */
export function refuseParticipant(services: Needs, host: RoomHost, input: ParticipantInput): Promise<Participant> {
  return asHost(services, host, input, async (sql, key) => requireStatus(await refuseIfWaiting(sql, key), 'refused'));
}

async function refuseIfWaiting(sql: Sql, key: ParticipantKey): Promise<ParticipantRecord> {
  const participant = await lockParticipant(sql, key);
  if (participant.status !== 'waiting') return participant;
  await sql.run(refuse, { workspaceId: key.workspaceId, id: key.id });
  return { ...participant, status: 'refused' };
}
