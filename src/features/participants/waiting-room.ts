/** Letting people in who wait, or not. Each looks behind the workspace's lock whether the caller may. */
import type { Caller } from '../../auth/identify.ts';
import { conflict } from '../../core/errors.ts';
import { type Tx, transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { markJoined } from './participant-lifecycle.ts';
import { lockParticipant, type ParticipantKey, type ParticipantRecord } from './participant-record.ts';
import type { ParticipantStatus } from './participant-status.ts';
import { toParticipant } from './present.ts';
import { findHostAccess, lockRoomAccess } from './room-access.ts';
import type { Participant, ParticipantInput } from './schemas.ts';

const whatStandsAgainst: Record<Exclude<ParticipantStatus, 'waiting'>, string> = {
  joined: 'The participant has joined already',
  refused: 'The participant was refused already',
  left: 'The participant has left already',
};

type Needs = Pick<Services, 'db' | 'clock'>;

/**
 * Lets somebody in who waits, and emits `room.joined`; who is in already stays so. Throws 404 "Room not found" and
 * "Participant not found", and 409 for who was refused or left.
 */
export function admit(services: Needs, caller: Caller, input: ParticipantInput): Promise<Participant> {
  return asHost(services, caller, input, async (tx, key) =>
    requireStatus(await markJoined(tx, services.clock.now(), key), 'joined'),
  );
}

/** The participant whom `decide` lets in or not, with everything locked that it needs. */
function asHost(
  { db }: Needs,
  caller: Caller,
  { name, participantId }: ParticipantInput,
  decide: (tx: Tx, key: ParticipantKey) => Promise<Participant>,
): Promise<Participant> {
  return transact(db, async (tx) => {
    const { workspaceId, roomId } = await lockRoomAccess(tx, () => findHostAccess(tx, caller, name));
    return decide(tx, { workspaceId, roomId, id: participantId });
  });
}

function requireStatus(visit: ParticipantRecord, wanted: 'joined' | 'refused'): Participant {
  if (visit.status !== wanted && visit.status !== 'waiting') throw conflict(whatStandsAgainst[visit.status]);
  return toParticipant(visit);
}

/**
 * Refuses somebody who waits; who was refused already stays so. Throws 404 "Room not found" and "Participant not
 * found", and 409 for who joined or left.
 */
export function refuse(services: Needs, caller: Caller, input: ParticipantInput): Promise<Participant> {
  return asHost(services, caller, input, async (tx, key) => requireStatus(await refuseIfWaiting(tx, key), 'refused'));
}

async function refuseIfWaiting(tx: Tx, key: ParticipantKey): Promise<ParticipantRecord> {
  const visit = await lockParticipant(tx, key);
  if (visit.status !== 'waiting') return visit;
  await tx.$executeRaw`
    update participants set status = 'refused' where workspace_id = ${key.workspaceId} and id = ${key.id}`;
  return { ...visit, status: 'refused' };
}
