import { int, ints, statement } from '../../../db/statements.ts';
import { WorkerStopping } from '../../../jobs/worker.ts';
import type { Services } from '../../../services.ts';
import { findLivekit, isConnection, nameOnServer, openLivekit } from '../../livekit/connection.ts';
import { readReference } from '../../participants/participant-reference.ts';
import { type CalledServer, LivekitFailed } from '../livekit-calls/livekit-caller.ts';
import type { ListedParticipant, RoomService } from '../livekit-calls/room-service.ts';
import { dropRequest, finishRequest, livekitRequests, type RequestLease, retryRequest } from './request-queue.ts';

const findPresent = statement('find-present-for-livekit', {
  params: { workspaceId: int, ids: ints },
  returns: { id: int },
  sql: `
    select id from participants
    where workspace_id = $workspaceId and id = any($ids) and status = 'joined'`,
});

type Needs = Pick<Services, 'db' | 'clock' | 'sealer' | 'log' | 'settings'>;
/** `room` is the name on the server. */
type Call = { server: CalledServer; room: string; rooms: RoomService; signal: AbortSignal };
/** A participant of the server whose identity is a reference of this service. */
type Known = ListedParticipant & { participantId: number };

/** Carries a request out, and records the result. A server that fails is asked again later. */
export async function runLivekitRequest(
  services: Needs,
  rooms: RoomService,
  lease: RequestLease,
  signal: AbortSignal,
): Promise<void> {
  const { db, log, sealer } = services;
  const livekit = await findLivekit(services, lease.workspaceId);
  // The workspace has no server any more.
  if (livekit === null) return dropRequest(services, lease);
  const server = { ...openLivekit(sealer, livekit), isTrusted: !isConnection(livekit) };
  const { roomName, roomId } = lease;
  const room = roomId === null ? roomName : nameOnServer(livekit, { roomName, roomId });
  try {
    await carryOut(services, lease, { server, room, rooms, signal });
  } catch (error) {
    if (signal.reason instanceof WorkerStopping) return livekitRequests.release(db.sql, lease, services.clock.now());
    if (!(error instanceof LivekitFailed)) throw error;
    const { workspaceId, kind, attempt } = lease;
    const isRetried = await retryRequest(services, lease);
    return log.warn({ workspaceId, kind, attempt, isRetried, reason: error.message }, 'A LiveKit server failed');
  }
  await finishRequest(services, lease);
}

async function carryOut(services: Needs, lease: RequestLease, call: Call): Promise<void> {
  const { server, room, rooms, signal } = call;
  const { kind, mutedBy } = lease;
  const known = await listKnown(services, lease, call);
  if (kind === 'mute') {
    for (const { identity, microphones, participantId } of known)
      if (participantId !== mutedBy)
        for (const track of microphones) await rooms.mute(server, room, identity, track, signal);
    return;
  }
  const present = await findPresentAmong(services, lease, known);
  // A meeting that has begun since then is not the one that was closed.
  if (kind === 'close' && present.size === 0) return rooms.deleteRoom(server, room, signal);
  for (const { identity, participantId } of known)
    if (!present.has(participantId)) await rooms.removeParticipant(server, room, identity, signal);
}

/** Others, such as recorders and agents, are none of this service. */
async function listKnown(
  { sealer }: Needs,
  { workspaceId }: RequestLease,
  { server, room, rooms, signal }: Call,
): Promise<Known[]> {
  const listed = await rooms.listParticipants(server, room, signal);
  return listed.flatMap((participant) => {
    const [reference = ''] = participant.identity.split('.', 1);
    const participantId = readReference(sealer, workspaceId, reference);
    return participantId === null ? [] : [{ ...participant, participantId }];
  });
}

/** Who of them is in the room. */
async function findPresentAmong(
  { db }: Needs,
  { workspaceId }: RequestLease,
  known: readonly Known[],
): Promise<Set<number>> {
  const rows = await db.sql.run(findPresent, { workspaceId, ids: known.map(({ participantId }) => participantId) });
  return new Set(rows.map(({ id }) => id));
}
