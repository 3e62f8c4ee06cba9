/** Tells a LiveKit server what has happened in a room that it carries. */
import type { Sealer } from '../../../core/sealing.ts';
import { int, json, nullable, statement, text } from '../../../db/statements.ts';
import { WorkerStopping } from '../../../jobs/worker.ts';
import type { Services } from '../../../services.ts';
import { openLivekit } from '../../livekit/connection.ts';
import { readReference } from '../../participants/participant-reference.ts';
import { type CalledServer, LivekitFailed } from '../livekit-calls/livekit-caller.ts';
import type { ListedParticipant, RoomService } from '../livekit-calls/room-service.ts';
import { finishRoom, isDue, livekitRooms, postponeRoom, type RoomLease, retryRoom } from './room-queue.ts';

/** The current credentials of the connection, or those that it had when the last token was created. */
const findCredentials = statement('find-livekit-credentials', {
  params: { workspaceId: int, roomId: int, origin: text },
  returns: { sealed: nullable(text) },
  sql: `
    select encode(coalesce(k.sealed_credentials, q.sealed_credentials), 'base64') as sealed
    from livekit_rooms q left join meeting_connections k on k.workspace_id = q.workspace_id
      and k.media_origin = q.origin
    where q.workspace_id = $workspaceId and q.room_id = $roomId and q.is_own and q.origin = $origin`,
});

/** Somebody on the server. `page` is the ID of their page, or of the answer that gave them the token. */
type Person = { identity: string; participantId: number; page: string };

// Somebody whose connection has broken may be back on the server before it has reported this. If it does not report
// them as a part of that visit, it reports another one.
const findPresent = statement('find-present-for-livekit', {
  params: { workspaceId: int, people: json<readonly Person[]>('json') },
  returns: { identity: text },
  sql: `
    select x.identity
    from json_to_recordset($people) as x (identity text, "participantId" int, page text)
    join participants p on p.workspace_id = $workspaceId and p.id = x."participantId"
    where (p.status = 'joined' or p.status = 'left' and p.end_reason is null
        and has_disconnected(p.workspace_id, p.id, p.joined_at, p.left_at))
      and not exists (
        select from meeting_pages g
        where g.workspace_id = p.workspace_id and g.participant_id = p.id and g.connection_id = x.page
          and g.replaced_at is not null)`,
});

type Needs = Pick<Services, 'db' | 'clock' | 'sealer' | 'log' | 'settings'>;
type Call = { server: CalledServer; room: string; rooms: RoomService; signal: AbortSignal };
/** A participant of the server whose identity is a reference of this service. */
type Known = ListedParticipant & Person;

/** Tells the server, and records that it was told. A server that fails is called again later. */
export async function updateRoom(
  services: Needs,
  rooms: RoomService,
  lease: RoomLease,
  signal: AbortSignal,
): Promise<void> {
  const { db, log, clock } = services;
  if (!isDue(clock.now(), lease)) return postponeRoom(services, lease);
  let server: CalledServer | null = null;
  try {
    server = await findServer(services, lease);
    if (server === null) throw new LivekitFailed('The server is not known any more');
    const isEmpty = await tell(services, lease, { server, room: lease.roomName, rooms, signal });
    await finishRoom(services, lease, isEmpty);
  } catch (error) {
    if (signal.reason instanceof WorkerStopping) return livekitRooms.release(db.sql, lease, clock.now());
    if (!(error instanceof LivekitFailed)) throw error;
    const { workspaceId, roomId, attempt } = lease;
    const isRetried = await retryRoom(services, lease, server !== null);
    log.warn({ workspaceId, roomId, attempt, isRetried, reason: error.message }, 'A LiveKit server failed');
  }
}

/** The server on which the room was joined, whatever carries the meetings of the workspace now. */
async function findServer(
  services: Needs,
  { workspaceId, roomId, isOwn, origin }: RoomLease,
): Promise<CalledServer | null> {
  const { db, settings, sealer } = services;
  const { livekit } = settings.meetings;
  if (!isOwn) return livekit?.origin === origin ? { ...livekit, isTrusted: true } : null;
  const [row] = await db.sql.run(findCredentials, { workspaceId, roomId, origin });
  if (!row?.sealed) return null;
  try {
    return { ...openLivekit(sealer, { workspaceId, origin, sealed: row.sealed }), isTrusted: false };
  } catch (cause) {
    throw new LivekitFailed('The credentials of the server cannot be opened', { cause });
  }
}

/** Resolves with whether nobody is connected who has a reference. */
async function tell(services: Needs, lease: RoomLease, call: Call): Promise<boolean> {
  const { server, room, rooms, signal } = call;
  const { isClosing, mutingUntil, mutedBy } = lease;
  const known = await listKnown(services, lease, call);
  const present = await findPresentAmong(services, lease, known);
  // A meeting that has begun since then is not the one that was closed.
  if (isClosing && present.size === 0) {
    await rooms.deleteRoom(server, room, signal);
    return true;
  }
  for (const { identity } of known)
    if (!present.has(identity)) await rooms.removeParticipant(server, room, identity, signal);
  if (mutingUntil !== null && services.clock.now() < mutingUntil)
    for (const { identity, microphones, participantId } of known)
      if (present.has(identity) && participantId !== mutedBy)
        for (const track of microphones) await rooms.mute(server, room, identity, track, signal);
  return present.size === 0;
}

/** Others, such as recorders and agents, are none of this service. */
async function listKnown(
  { sealer }: { sealer: Sealer },
  { workspaceId }: RoomLease,
  { server, room, rooms, signal }: Call,
): Promise<Known[]> {
  const listed = await rooms.listParticipants(server, room, signal);
  return listed.flatMap((participant) => {
    const { identity } = participant;
    const [reference = ''] = identity.split('.', 1);
    const participantId = readReference(sealer, workspaceId, reference);
    return participantId === null
      ? []
      : [{ ...participant, participantId, page: identity.slice(reference.length + 1) }];
  });
}

/**
 * The identities of those who are in the room here. Somebody who joins again is another participant, with another
 * identity, and was present before they got the token with which they connected.
 */
async function findPresentAmong(
  { db }: Needs,
  { workspaceId }: RoomLease,
  known: readonly Known[],
): Promise<Set<string>> {
  if (known.length === 0) return new Set();
  const people = known.map(({ identity, participantId, page }) => ({ identity, participantId, page }));
  return new Set((await db.sql.run(findPresent, { workspaceId, people })).map(({ identity }) => identity));
}
