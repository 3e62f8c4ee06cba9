/** The queue of the recordings that the LiveKit server of the service makes. */

import type { RecordingStatus } from '../../../core/recording-status.ts';
import { SECOND_MS } from '../../../core/time.ts';
import { bool, float, int, nullable, oneOf, statement, text, time } from '../../../db/statements.ts';
import { declareQueue, type Lease } from '../../../jobs/lease-queue.ts';

/** Longer than the calls to a server that answers. If a process is killed, another takes over after it. */
export const EGRESS_LEASE_MS = 30 * SECOND_MS;

const key = {
  workspaceId: { column: 'workspace_id', type: int },
  recordingId: { column: 'recording_id', type: int },
};
const columns = {
  roomName: { column: 'room_name', type: text },
  archiveId: { column: 'archive_id', type: text },
  egressId: { column: 'egress_id', type: nullable(text) },
  createdAt: { column: 'created_at', type: time },
};

/** `call`: the server has to be called; `store`: it has written the file, which has to be stored. */
export type EgressStep = 'call' | 'store';

/** One workspace with many recordings does not keep the others waiting. */
export const livekitEgresses = declareQueue({
  name: 'livekit-egress',
  table: 'livekit_egresses',
  key,
  columns,
  fairBy: 'workspace_id',
  nameColumn: 'step',
});
export type EgressLease = Lease<typeof key, typeof columns>;

export const saveEgressId = statement('save-egress-id', {
  params: { workspaceId: int, recordingId: int, attempt: int, egressId: text },
  sql: `
    update livekit_egresses set egress_id = $egressId
    where workspace_id = $workspaceId and recording_id = $recordingId and attempts = $attempt`,
});

/** Ends the lease of a worker that calls the server. */
export const passToStore = statement('pass-egress-to-store', {
  params: { workspaceId: int, recordingId: int, attempt: int, now: time },
  sql: `
    update livekit_egresses set step = 'store', leased_until = null, next_attempt_at = $now
    where workspace_id = $workspaceId and recording_id = $recordingId and attempts = $attempt
      and leased_until is not null`,
});

/** Returns a row if this process still had the lease. */
export const removeEgress = statement('remove-livekit-egress', {
  params: { workspaceId: int, recordingId: int, attempt: int },
  returns: { recordingId: int },
  sql: `
    delete from livekit_egresses
    where workspace_id = $workspaceId and recording_id = $recordingId and attempts = $attempt
    returning recording_id as "recordingId"`,
});

/** Locks the row, if this process still has the lease. */
export const holdEgress = statement('hold-livekit-egress', {
  params: { workspaceId: int, recordingId: int, attempt: int },
  returns: { recordingId: int },
  sql: `
    select recording_id as "recordingId" from livekit_egresses
    where workspace_id = $workspaceId and recording_id = $recordingId and attempts = $attempt for update`,
});

export const findRecordingOfEgress = statement('find-recording-of-egress', {
  params: { workspaceId: int, recordingId: int },
  returns: {
    roomId: int,
    status: oneOf<RecordingStatus>(),
    hasFile: bool,
    endedAt: nullable(time),
    createdAt: time,
    storedBytes: float,
  },
  sql: `
    select c.room_id as "roomId", c.status, c.file_key is not null as "hasFile", c.ended_at as "endedAt",
      c.created_at as "createdAt", w.stored_bytes::float8 as "storedBytes"
    from recordings c join workspaces w on w.id = c.workspace_id
    where c.workspace_id = $workspaceId and c.id = $recordingId`,
});
