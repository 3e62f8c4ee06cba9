/** Recordings that tests create and advance without the API. */
import { Readable } from 'node:stream';
import { createToken, hashToken } from '../../src/auth/tokens.ts';
import { lockWorkspace } from '../../src/auth/workspace-lock.ts';
import { notFound } from '../../src/core/errors.ts';
import { transact } from '../../src/db/client.ts';
import {
  addRecording,
  advanceRecording,
  type RecordingKey,
  type RecordingUpdate,
} from '../../src/features/recordings/recording-lifecycle.ts';
import { createObjectKey } from '../../src/storage/create-object-key.ts';
import { makeMp4 } from '../support/media.ts';
import type { TestApp } from '../support/test-app.ts';

/** Starts a recording, or finds the existing one, and returns its id. Throws 404 if the room does not exist. */
export function start(
  { services: { db }, clock }: TestApp,
  { title = null, ...key }: RecordingKey & { title?: string | null },
): Promise<number> {
  return transact(db, async (tx) => {
    const { workspaceId, roomId } = key;
    await lockWorkspace(tx, workspaceId, 'Room');
    if ((await tx.room.count({ where: { workspaceId, id: roomId } })) === 0) throw notFound('Room');
    const added = await addRecording(tx, clock.now(), { ...key, title });
    if (added !== null) return added;
    const where = { workspaceId_roomId_archiveId: key };
    return (await tx.recording.findUniqueOrThrow({ where, select: { id: true } })).id;
  });
}

/** An update of a recording, without the hash of the file. */
export type ReportedUpdate = { status: RecordingUpdate['status'] } & Partial<Record<'fileKey' | 'title', string>> &
  Partial<Record<'duration' | 'size', number>>;

const SHA256 = new Uint8Array(32).fill(7);

function toRecordingUpdate({ status, fileKey, ...rest }: ReportedUpdate): RecordingUpdate {
  return status === 'failed'
    ? { ...rest, status }
    : { ...rest, status, ...(fileKey !== undefined && { fileKey, sha256: SHA256, mediaType: 'video/mp4' }) };
}

export function advance({ services: { db }, clock }: TestApp, key: RecordingKey, update: ReportedUpdate) {
  return transact(db, async (tx) => {
    await lockWorkspace(tx, key.workspaceId, 'Recording');
    return advanceRecording(tx, clock.now(), key, toRecordingUpdate(update));
  });
}

/** Stores an object of the workspace and returns its key. */
export async function storeFile({ services: { store } }: TestApp, workspaceId: number, text: string): Promise<string> {
  const key = createObjectKey(workspaceId, 'recordings');
  await store.put(key, Readable.from([Buffer.from(text)]), { contentType: 'video/mp4' });
  return key;
}

/** Adds a guest to a room and returns their token. */
export async function addGuest(
  { services: { db }, clock }: TestApp,
  { workspaceId, roomId }: { workspaceId: number; roomId: number },
  status: 'joined' | 'waiting' | 'refused' | 'left' = 'joined',
): Promise<string> {
  const token = createToken('lnp_');
  const at = clock.now();
  const times = { createdAt: at, lastSeenAt: at, joinedAt: at, leftAt: status === 'left' ? at : null };
  await db.participant.create({
    data: { workspaceId, roomId, name: 'Gina', status, tokenHash: hashToken(token), ...times },
  });
  return token;
}

/** Creates a multipart body with a video as the file. */
export function videoForm(bytes: Uint8Array = makeMp4({ durationSeconds: 61.6, moov: 'front' }), type = 'video/mp4') {
  const body = new FormData();
  body.append('file', new Blob([Uint8Array.from(bytes)], { type }), 'capture.mp4');
  return body;
}

/** Uploads the file of a recording. */
export function uploadFile(app: TestApp, recordingId: number, token: string | undefined, body = videoForm()) {
  return app.http.call('POST', `/api/recordings/${recordingId}/file`, { token, body });
}
