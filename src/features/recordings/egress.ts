/** Recordings that the LiveKit server of the service makes (`features/meeting-providers/livekit-egress`). */
import { conflict, forbidden } from '../../core/errors.ts';
import { notify } from '../../db/notify.ts';
import { int, type Sql, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { isConnection } from '../livekit/connection.ts';
import { LIVEKIT_CHANNEL } from '../livekit/requests.ts';
import { carrierColumns, carrierReturns, toCarrier } from '../peers/media.ts';
import type { RoomKey } from './recording-lifecycle.ts';
import type { Recording } from './schemas.ts';

const findCarrier = statement('find-carrier-of-room', {
  params: { workspaceId: int, roomId: int },
  returns: carrierReturns,
  sql: `
    select ${carrierColumns}
    from rooms r where r.workspace_id = $workspaceId and r.id = $roomId`,
});

const addStatement = statement('add-livekit-egress', {
  params: { workspaceId: int, recordingId: int, roomName: text, archiveId: text, at: time },
  sql: `
    insert into livekit_egresses (workspace_id, recording_id, room_name, archive_id, created_at, next_attempt_at)
    values ($workspaceId, $recordingId, $roomName, $archiveId, $at, $at)`,
});

/**
 * Throws 403 for a guest: a stranger must not occupy the recorders of the service. Throws 409 if the LiveKit server of
 * the service does not carry the meetings of the room.
 */
export async function requireEgress(
  { settings, livekitEgress }: Pick<Services, 'settings' | 'livekitEgress'>,
  sql: Sql,
  { workspaceId, roomId }: RoomKey,
  { isGuest }: { isGuest: boolean },
): Promise<void> {
  if (isGuest) throw forbidden('Guests can only record in their own browser');
  const [row] = await sql.run(findCarrier, { workspaceId, roomId });
  const carrier = row && toCarrier(settings, row);
  // A server that the owner of a workspace has chosen would get the credentials for the bucket.
  if (livekitEgress === null || carrier?.kind !== 'livekit' || isConnection(carrier.livekit))
    throw conflict('No LiveKit server of this service carries the meetings of this room: record in the browser');
}

/** Has the server record. Call it in the transaction that starts the recording. */
export async function addEgress(sql: Sql, at: Date, workspaceId: number, recording: Recording): Promise<void> {
  const { id: recordingId, room_name: roomName, archive_id: archiveId } = recording;
  await sql.run(addStatement, { workspaceId, recordingId, roomName, archiveId, at });
  await notify(sql, LIVEKIT_CHANNEL);
}
