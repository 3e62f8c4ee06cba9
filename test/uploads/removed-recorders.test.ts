/** What the upload token of a participant still allows after a host has removed them. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { finishIdleUploads } from '../../src/features/uploads/finish-idle-uploads.ts';
import { remove } from '../moderation/moderate.ts';
import { addGuest, addRoom, decide, join, leave } from '../participants/rooms.ts';
import { uploadFile, videoForm } from '../recordings/recording-fixtures.ts';
import { jpeg } from '../support/images.ts';
import { makeMp4 } from '../support/media.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { append, cancel, create, created, head, toMetadata } from './tus-fixtures.ts';

const PART = 50 * 1024;
const metadata = toMetadata({ filename: 'a.mp4' });
const file = makeMp4({ durationSeconds: 5, moov: 'front', mdatBytes: 4 * PART });
/** `RECORDING_IDLE_SECONDS` is 15 minutes. */
const IDLE_MS = 15 * MINUTE_MS;
const removed = { status: 403, body: { code: 'PARTICIPANT_REMOVED' } };

let app: TestApp;
let team: Team;
let room: { id: number; name: string };
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date() });
});
beforeEach(async () => {
  team = await addTeam(app);
  room = await addRoom(app, team, team.owner);
});
afterAll(() => app.close());

async function startRecording() {
  const guest = await addGuest(app, room.name);
  const { body } = await app.http.post(`/api/rooms/${room.name}/recordings`, undefined, { token: guest.token });
  const { id } = body.recording;
  const token = body.upload_token;
  const uploads = `/api/recordings/${id}/uploads`;
  return { id, guest, token, uploads, upload: await created(app, uploads, token, { metadata }) };
}

const part = (index: number): Buffer => file.subarray(index * PART, (index + 1) * PART);
const read = (id: number) => app.services.db.recording.findFirstOrThrow({ where: { id } });

test('what was captured before the removal arrives for another 15 minutes, and nothing after that', async () => {
  const { id, guest, token, upload, uploads } = await startRecording();
  expect((await append(app, upload, token, 0, part(0))).status).toBe(204);
  const removedAt = app.clock.now();
  expect((await remove(app, room.name, guest.id, team.owner.token)).status).toBe(200);
  // The capture ends at once: the next recording can begin.
  expect((await read(id)).endedAt).toEqual(removedAt);
  app.clock.advance(IDLE_MS - SECOND_MS);
  expect((await append(app, upload, token, PART, part(1))).status).toBe(204);
  app.clock.advance(2 * SECOND_MS);
  expect(await append(app, upload, token, 2 * PART, part(2))).toMatchObject(removed);
  expect((await head(app, upload, token)).status).toBe(403);
  expect(await create(app, uploads, token, { metadata })).toMatchObject(removed);
  expect(await uploadFile(app, id, token, videoForm())).toMatchObject(removed);
  // What has arrived is finished as after any silence.
  app.clock.advance(IDLE_MS);
  await finishIdleUploads(app.services);
  expect(await read(id)).toMatchObject({ status: 'uploaded', size: BigInt(2 * PART) });
});

test('a request that is sending when the time is up is stopped; what it has brought stays', async () => {
  const { id, guest, token, upload } = await startRecording();
  await remove(app, room.name, guest.id, team.owner.token);
  const body = new TransformStream<Uint8Array, Uint8Array>();
  const writer = body.writable.getWriter();
  const sending = append(app, upload, token, 0, body.readable);
  await writer.write(part(0));
  const isSending = async () => (await app.services.db.upload.findFirst({ where: { recordingId: id } }))?.lease;
  await expect.poll(isSending).not.toBeNull();
  app.clock.advance(IDLE_MS + SECOND_MS);
  const { status, headers } = await sending;
  expect([status, headers.get('upload-offset')]).toEqual([409, String(PART)]);
  expect(await append(app, upload, token, PART, part(1))).toMatchObject(removed);
});

test('a file in one request is refused if it is still arriving when the time is up', async () => {
  const { id, guest, token, upload } = await startRecording();
  await remove(app, room.name, guest.id, team.owner.token);
  expect((await cancel(app, upload, token)).status).toBe(204);
  const { headers, bytes } = await encode(videoForm());
  const body = new TransformStream<Uint8Array, Uint8Array>();
  const writer = body.writable.getWriter();
  app.clock.advance(SECOND_MS);
  const path = `/api/recordings/${id}/file`;
  const sending = app.http.call('POST', path, { token, headers, body: body.readable });
  await writer.write(bytes.subarray(0, 100));
  // The request counts as a sign of life when it begins.
  await expect.poll(async () => (await read(id)).updatedAt).toEqual(app.clock.now());
  app.clock.advance(IDLE_MS);
  await writer.write(bytes.subarray(100));
  await writer.close();
  expect(await sending).toMatchObject(removed);
  expect(await read(id)).toMatchObject({ status: 'started', fileKey: null });
});

async function encode(form: FormData) {
  const response = new Response(form);
  const headers = { 'content-type': response.headers.get('content-type') ?? '' };
  return { headers, bytes: new Uint8Array(await response.arrayBuffer()) };
}

test('who left before they were removed has the same time, and who only left has a day', async () => {
  const { guest, token, upload } = await startRecording();
  await leave(app, room.name, guest.token);
  app.clock.advance(60 * MINUTE_MS);
  expect((await append(app, upload, token, 0, part(0))).status).toBe(204);
  await remove(app, room.name, guest.id, team.owner.token);
  app.clock.advance(IDLE_MS - SECOND_MS);
  expect((await append(app, upload, token, PART, part(1))).status).toBe(204);
  app.clock.advance(2 * SECOND_MS);
  expect(await append(app, upload, token, 2 * PART, part(2))).toMatchObject(removed);
});

test('who is removed after joining again has the same time for the recording of their earlier visit', async () => {
  const { guest, token, upload } = await startRecording();
  await leave(app, room.name, guest.token);
  const again = (await join(app, room.name, { name: 'Gina', token: guest.token })).body.participant;
  expect(again.id).not.toBe(guest.id);
  await remove(app, room.name, again.id, team.owner.token);
  app.clock.advance(IDLE_MS - SECOND_MS);
  expect((await append(app, upload, token, 0, part(0))).status).toBe(204);
  app.clock.advance(2 * SECOND_MS);
  expect(await append(app, upload, token, PART, part(1))).toMatchObject(removed);
});

test('the poster of a recording can be set for a day after its end, and by hosts after that', async () => {
  const { id, guest, token } = await startRecording();
  await app.http.post(`/api/rooms/${room.name}/recordings/${id}/stop`, undefined, { token: guest.token });
  const set = (by: string) => {
    const headers = { 'content-type': 'image/jpeg' };
    return app.http.call('PUT', `/api/recordings/${id}/poster`, { token: by, body: Uint8Array.from(jpeg), headers });
  };
  app.clock.advance(DAY_MS);
  expect((await set(token)).status).toBe(200);
  app.clock.advance(SECOND_MS);
  expect((await set(token)).status).toBe(403);
  expect((await set(team.owner.token)).status).toBe(200);
});

test('a removal before the recording began, of a user whom a host has admitted again, does not count', async () => {
  const { token: session } = team.member;
  const first = (await join(app, room.name, {}, session)).body.participant;
  await remove(app, room.name, first.id, team.owner.token);
  app.clock.advance(60 * MINUTE_MS);
  const waiting = (await join(app, room.name, {}, session)).body.participant;
  const admitted = await decide(app, 'admit', room.name, waiting.id, team.owner.token);
  expect(admitted.body.participant.status).toBe('joined');
  const path = `/api/rooms/${room.name}/recordings`;
  const { body } = await app.http.post(path, undefined, { token: waiting.token });
  const upload = await created(app, `/api/recordings/${body.recording.id}/uploads`, body.upload_token, { metadata });
  expect((await append(app, upload, body.upload_token, 0, part(0))).status).toBe(204);
});
