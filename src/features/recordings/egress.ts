/** Recordings that the LiveKit server of the service makes (`features/meeting-providers/livekit-egress`). */
import { conflict, conflictForNow, forbidden } from '../../core/errors.ts';
import { notify } from '../../db/notify.ts';
import { int, type Sql, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { isConnection, nameOnServer } from '../livekit/connection.ts';
import { LIVEKIT_CHANNEL } from '../livekit/rooms.ts';
import { carrierColumns, carrierReturns, toCarrier } from '../peers/media.ts';
import type { RoomKey } from './recording-lifecycle.ts';
import type { Recording } from './schemas.ts';

const findCarrier = statement('find-carrier-of-room', {
  params: { workspaceId: int, roomId: int },
  returns: { roomName: text, running: int, ...carrierReturns },
  sql: `
    select r.name as "roomName", (
        select count(*)::int from livekit_egresses e where e.workspace_id = $workspaceId) as running, ${carrierColumns}
    from rooms r where r.workspace_id = $workspaceId and r.id = $roomId`,
});

const addStatement = statement('add-livekit-egress', {
  params: { workspaceId: int, recordingId: int, roomName: text, archiveId: text, at: time },
  sql: `
    insert into livekit_egresses (workspace_id, recording_id, room_name, archive_id, created_at, next_attempt_at)
    values ($workspaceId, $recordingId, $roomName, $archiveId, $at, $at)`,
});

/** How many recordings of a workspace the server makes at a time: each takes a processor of its own. */
const MAX_RUNNING = 10;

const endStatement = statement('end-capture-of-egress', {
  params: { workspaceId: int, recordingId: int, at: time },
  sql: `
    update recordings set ended_at = $at, updated_at = $at
    where workspace_id = $workspaceId and id = $recordingId and ended_at is null and status = 'started'`,
});

/**
 * Returns the name of the room on the LiveKit server of the operator. Call it with the workspace locked. Throws 403 for
 * a guest: a stranger must not occupy the recorders of the service. Throws 409 if the server does not carry the
 * meetings of the room, and if it makes 10 recordings of the workspace already.
 */
export async function requireEgress(
  { settings, livekitEgress }: Pick<Services, 'settings' | 'livekitEgress'>,
  sql: Sql,
  { workspaceId, roomId }: RoomKey,
  { isGuest }: { isGuest: boolean },
): Promise<string> {
  if (isGuest) throw forbidden('Guests can only record in their own browser');
  const [row] = await sql.run(findCarrier, { workspaceId, roomId });
  const carrier = row && toCarrier(settings, row);
  // A server that the owner of a workspace has chosen would get the credentials for the bucket.
  if (row === undefined || livekitEgress === null || carrier?.kind !== 'livekit' || isConnection(carrier.livekit))
    throw conflict('No LiveKit server of this service carries the meetings of this room: record in the browser');
  if (row.running >= MAX_RUNNING)
    throw conflictForNow(`The server makes ${MAX_RUNNING} recordings of the workspace already`);
  return nameOnServer(carrier.livekit, { roomName: row.roomName, roomId });
}

/** Has the server record. Call it in the transaction that starts the recording. */
export async function addEgress(
  sql: Sql,
  at: Date,
  { workspaceId, roomName }: { workspaceId: number; roomName: string },
  { id: recordingId, archive_id: archiveId }: Recording,
): Promise<void> {
  await sql.run(addStatement, { workspaceId, recordingId, roomName, archiveId, at });
  await notify(sql, LIVEKIT_CHANNEL);
}

/** Ends the capture of a recording at its greatest length, as if it was stopped. */
export async function endCapture(
  sql: Sql,
  at: Date,
  { workspaceId, recordingId }: { workspaceId: number; recordingId: number },
): Promise<void> {
  await sql.run(endStatement, { workspaceId, recordingId, at });
}
