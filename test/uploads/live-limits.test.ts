/** How large a recording may become that is sent while it is made: its length is not known before. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { runDueMediaJob } from '../../src/features/media-jobs/media-worker.ts';
import { finishIdleUploads } from '../../src/features/uploads/finish-idle-uploads.ts';
import { addGuest } from '../recordings/recording-fixtures.ts';
import { makeMp4 } from '../support/media.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { append, create, created, head, pdfOf, toMetadata } from './tus-fixtures.ts';

const KIB = 1024;
const MAX_BYTES = 100 * KIB;
const metadata = toMetadata({ filename: 'a.mp4' });
const file = makeMp4({ durationSeconds: 5, moov: 'front', mdatBytes: 200 * KIB });

let app: TestApp;
let team: Team;
let room: { id: number; name: string };
beforeAll(async () => {
  app = await startTestApp({
    frozenAt: new Date(),
    settings: { maxRecordingBytes: MAX_BYTES, participantRecordingBytes: 150 * KIB },
  });
});
beforeEach(async () => {
  team = await addTeam(app);
  room = (await app.http.post('/api/dashboard/rooms', team.owner.token, { workspace_id: team.id })).body.room;
});
afterAll(() => app.close());

type Live = { id: number; token: string; upload: string; maxBytes: number };

async function startRecording(by: 'guest' | 'owner' = 'guest'): Promise<Live> {
  const path = by === 'guest' ? `/api/rooms/${room.name}/recordings` : `/api/dashboard/rooms/${room.name}/recordings`;
  const guest = await addGuest(app, { workspaceId: team.id, roomId: room.id });
  const credential = by === 'guest' ? undefined : team.owner.token;
  const { status, body } = await app.http.post(path, credential, by === 'guest' ? { token: guest } : {});
  expect(status).toBe(200);
  const { id } = body.recording;
  const upload = await created(app, `/api/recordings/${id}/uploads`, body.upload_token, { metadata });
  return { id, token: body.upload_token, upload, maxBytes: body.max_bytes };
}

async function stop({ id }: Live): Promise<void> {
  await app.http.post(`/api/dashboard/rooms/${room.name}/recordings/${id}/stop`, team.owner.token);
}

const read = async ({ id }: Live) => app.services.db.recording.findFirstOrThrow({ where: { id } });

async function offsetOf({ upload, token }: Live): Promise<number> {
  return Number((await head(app, upload, token)).headers.get('upload-offset'));
}

async function runJobs(): Promise<void> {
  while (await runDueMediaJob(app.services, new AbortController().signal));
}

test('a recording ends at its maximum size, and is complete with exactly so many bytes', async () => {
  const live = await startRecording('owner');
  expect(live.maxBytes).toBe(MAX_BYTES);
  await append(app, live.upload, live.token, 0, file.subarray(0, 60 * KIB));
  const refused = await append(app, live.upload, live.token, 60 * KIB, file.subarray(60 * KIB, 120 * KIB));
  const message = 'The recording has reached its maximum size of 100 kB (RECORDING_MAX_BYTES)';
  expect([refused.status, refused.body.message]).toEqual([413, message]);
  expect(refused.headers.get('upload-offset')).toBe(String(MAX_BYTES));
  const state = await head(app, live.upload, live.token);
  expect(state.headers.get('upload-length')).toBe(String(MAX_BYTES));
  expect(state.headers.get('upload-result')).toBe(`/api/dashboard/recordings/${live.id}`);
  const again = await append(app, live.upload, live.token, MAX_BYTES, file.subarray(MAX_BYTES));
  expect([again.status, again.body.message]).toEqual([413, message]);
  expect(await read(live)).toMatchObject({ status: 'uploaded', size: BigInt(MAX_BYTES), endedAt: expect.any(Date) });
  await runJobs();
  expect(await read(live)).toMatchObject({ status: 'available' });
  // Another one can begin.
  await startRecording('owner');
});

test('a recording of exactly the maximum size is accepted', async () => {
  const live = await startRecording('owner');
  const length = { 'upload-length': String(MAX_BYTES) };
  const { status } = await append(app, live.upload, live.token, 0, file.subarray(0, MAX_BYTES), length);
  expect([status, (await read(live)).status]).toEqual([204, 'uploaded']);
});

test('participants append exactly as much as they may store, and what fits is finished', async () => {
  const first = await startRecording();
  expect(first.maxBytes).toBe(MAX_BYTES);
  await append(app, first.upload, first.token, 0, file.subarray(0, 90 * KIB));
  await stop(first);
  const second = await startRecording();
  // What the first has stored counts, although it is not finished.
  expect(second.maxBytes).toBe(60 * KIB);
  const refused = await append(app, second.upload, second.token, 0, file.subarray(0, 80 * KIB));
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, expect.any(String)]);
  expect(refused.headers.get('upload-offset')).toBe(String(60 * KIB));
  const more = await append(app, second.upload, second.token, 60 * KIB, file.subarray(60 * KIB, 61 * KIB));
  expect([more.status, await offsetOf(second)]).toEqual([429, 60 * KIB]);
  await stop(second);
  app.clock.advance(16 * MINUTE_MS);
  await finishIdleUploads(app.services);
  const sizes = [(await read(first)).size, (await read(second)).size];
  expect(sizes).toEqual([BigInt(90 * KIB), BigInt(60 * KIB)]);
  // It counts once, not as a file and as an upload.
  const third = await append(app, first.upload, first.token, 90 * KIB, file.subarray(90 * KIB, 91 * KIB));
  expect([third.status, await offsetOf(first)]).toEqual([429, 90 * KIB]);
});

test('participants claim no more with the lengths of uploads than they may store', async () => {
  const KIB_110 = 110 * KIB;
  const first = await startRecording();
  await stop(first);
  const second = await startRecording();
  await stop(second);
  app.services.settings.participantRecordingBytes = KIB_110;
  try {
    // Each length fits alone, and nothing has arrived.
    const name = (live: Live, length: number) =>
      append(app, live.upload, live.token, 0, Buffer.alloc(0), { 'upload-length': String(length) });
    expect((await name(first, 90 * KIB)).status).toBe(204);
    const refused = await name(second, 90 * KIB);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, expect.any(String)]);
    expect((await name(second, 20 * KIB)).status).toBe(204);
    const third = await app.http.post(`/api/rooms/${room.name}/recordings`, undefined, {
      token: await addGuest(app, { workspaceId: team.id, roomId: room.id }),
    });
    expect(third.status).toBe(429);
  } finally {
    app.services.settings.participantRecordingBytes = 150 * KIB;
  }
});

test('the quota of the workspace holds while the length is not known', async () => {
  const before = app.services.settings.quotas.bytes;
  app.services.settings.quotas.bytes = 70 * KIB;
  try {
    const live = await startRecording('owner');
    const refused = await append(app, live.upload, live.token, 0, file.subarray(0, 80 * KIB));
    expect([refused.status, refused.headers.get('upload-offset')]).toEqual([409, String(70 * KIB)]);
    expect(refused.body.message).toBe('The workspace has reached the quota of 71680 bytes (QUOTA_BYTES)');
    app.clock.advance(16 * MINUTE_MS);
    await finishIdleUploads(app.services);
    expect(await read(live)).toMatchObject({ status: 'uploaded', size: BigInt(70 * KIB) });
    const { storedBytes } = await app.services.db.workspace.findUniqueOrThrow({ where: { id: team.id } });
    expect(storedBytes).toBe(BigInt(70 * KIB));
  } finally {
    app.services.settings.quotas.bytes = before;
  }
});

test('a file of another type ends the upload, and leaves nothing behind', async () => {
  const live = await startRecording();
  const refused = await append(app, live.upload, live.token, 0, pdfOf(10 * KIB));
  expect([refused.status, refused.body.message]).toEqual([400, 'Only MP4 and WebM files are supported']);
  expect((await head(app, live.upload, live.token)).status).toBe(404);
  // The recorder may begin again.
  expect((await create(app, `/api/recordings/${live.id}/uploads`, live.token, { metadata })).status).toBe(201);
});

test('a recorder that sends tiny parts for ever is refused', async () => {
  const live = await startRecording();
  await append(app, live.upload, live.token, 0, file.subarray(0, 100));
  await app.services.db.upload.updateMany({ where: { recordingId: live.id }, data: { requests: 1_000 } });
  const refused = await append(app, live.upload, live.token, 100, file.subarray(100, 200));
  expect(refused.status).toBe(400);
});
