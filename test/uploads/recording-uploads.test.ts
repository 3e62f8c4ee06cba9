/** Resumable uploads of the files of recordings. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import { failStaleRecordings } from '../../src/features/recordings/fail-stale-recordings.ts';
import { addGuest } from '../recordings/recording-fixtures.ts';
import { makeMp4 } from '../support/media.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { append, create, created, head, toMetadata } from './tus-fixtures.ts';

const MIB = 1024 * 1024;
const metadata = toMetadata({ filename: 'a.mp4' });
const file = makeMp4({ durationSeconds: 1, moov: 'front', mdatBytes: 1_000 });

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ settings: { participantRecordingBytes: MIB } });
  team = await addTeam(app);
});
afterAll(() => app.close());

async function startRecording(): Promise<{ id: number; token: string; uploads: string }> {
  const { room } = (await app.http.post('/api/dashboard/rooms', team.owner.token, { workspace_id: team.id })).body;
  const guest = await addGuest(app, { workspaceId: team.id, roomId: room.id });
  const { body } = await app.http.post(`/api/rooms/${room.name}/recordings`, undefined, { token: guest });
  const { id } = body.recording;
  return { id, token: body.upload_token, uploads: `/api/recordings/${id}/uploads` };
}

const statusOf = async (id: number): Promise<string> =>
  (await app.services.db.recording.findFirstOrThrow({ where: { id } })).status;

test('an upload that nobody has continued is replaced, because its URL may have been lost', async () => {
  const { token, uploads } = await startRecording();
  const lost = await created(app, uploads, token, { length: file.length, metadata });
  const upload = await created(app, uploads, token, { length: file.length, metadata });
  expect((await head(app, lost, token)).status).toBe(404);
  await append(app, upload, token, 0, file.subarray(0, 100));
  const refused = await create(app, uploads, token, { length: file.length, metadata });
  expect([refused.status, refused.body.message]).toEqual([
    409,
    'The recording has an unfinished upload: continue or cancel it',
  ]);
  const id = upload.split('/').at(-1) ?? '';
  await app.services.db.upload.update({ where: { id }, data: { expiresAt: app.clock.now() } });
  expect((await create(app, uploads, token, { length: file.length, metadata })).status).toBe(201);
});

test('a participant cannot begin an upload that is larger than what participants may store', async () => {
  const { token, uploads } = await startRecording();
  const refused = await create(app, uploads, token, { length: MIB + 1, metadata });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, expect.any(String)]);
  expect((await create(app, uploads, token, { length: MIB, metadata })).status).toBe(201);
});

test('a recording does not become stale while its file arrives', async () => {
  const { id, token, uploads } = await startRecording();
  const upload = await created(app, uploads, token, { metadata });
  for (const offset of [0, 100, 200]) {
    await append(app, upload, token, offset, file.subarray(offset, offset + 100));
    app.clock.advance(DAY_MS - HOUR_MS);
    await failStaleRecordings(app.services);
    expect(await statusOf(id)).toBe('started');
  }
  const length = { 'upload-length': String(file.length) };
  expect((await append(app, upload, token, 300, file.subarray(300), length)).status).toBe(204);
  expect(await statusOf(id)).toBe('uploaded');
});
