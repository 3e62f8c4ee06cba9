/** How much the guests of a room may record in it: strangers must not fill the storage of its owner. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { concurrently } from '../support/concurrently.ts';
import { makeMp4 } from '../support/media.ts';
import { stagedIn, storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { addGuest, uploadFile, videoForm } from './recording-fixtures.ts';

const ROOMS = '/api/dashboard/rooms';
const HOUR_MS = 60 * 60 * 1000;
const MIB = 1024 * 1024;
const MESSAGE = 'The guests of a room may record at most 1 MB in 24 hours (PARTICIPANT_RECORDING_BYTES)';

let app: TestApp;
let team: Team;
let room: { id: number; name: string };
let guest: string;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date(), settings: { participantRecordingBytes: MIB } });
  team = await addTeam(app);
});
afterAll(() => app.close());
beforeEach(async () => {
  room = (await app.http.post(ROOMS, team.owner.token, { workspace_id: team.id })).body.room;
  guest = await addGuest(app, { workspaceId: team.id, roomId: room.id });
});

function start(token = guest, { name } = room) {
  return app.http.post(`/api/rooms/${name}/recordings`, undefined, { token });
}

/** Starts a recording as the guest and stops it, so that another one can be started. */
async function startAndStop(): Promise<{ id: number; token: string }> {
  const { status, body } = await start();
  expect(status).toBe(200);
  const { id } = body.recording;
  await app.http.post(`/api/rooms/${room.name}/recordings/${id}/stop`, undefined, { token: guest });
  return { id, token: body.upload_token };
}

function videoOf(size: number) {
  const empty = makeMp4({ durationSeconds: 1, moov: 'front', mdatBytes: 0 }).length;
  return videoForm(makeMp4({ durationSeconds: 1, moov: 'front', mdatBytes: size - empty }));
}

async function record(size: number): Promise<number> {
  const { id, token } = await startAndStop();
  return (await uploadFile(app, id, token, videoOf(size))).status;
}

test('a recording that a worker has not looked at yet counts like one that is available', async () => {
  const { id, token } = await startAndStop();
  expect((await uploadFile(app, id, token, videoOf(MIB))).status).toBe(200);
  // As after a resumable upload.
  await app.services.db.recording.updateMany({ where: { id }, data: { status: 'uploaded' } });
  expect((await start()).status).toBe(429);
});

test('exactly the limit is stored; then no recording can be started until a day has passed', async () => {
  expect(await record(MIB / 2)).toBe(200);
  app.clock.advance(HOUR_MS);
  expect(await record(MIB / 2)).toBe(200);
  const refused = await start();
  expect([refused.status, refused.body.message]).toEqual([429, MESSAGE]);
  expect(refused.headers.get('retry-after')).toBe(String(23 * 60 * 60));
  app.clock.advance(23 * HOUR_MS + 1000);
  expect((await start()).status).toBe(200);
});

test('a file with one byte more is refused while it arrives, and leaves nothing behind', async () => {
  expect(await record(MIB / 2)).toBe(200);
  const keys = await storedKeys(app);
  const { id, token } = await startAndStop();
  const answer = await uploadFile(app, id, token, videoOf(MIB / 2 + 1));
  expect([answer.status, answer.body.message]).toEqual([429, MESSAGE]);
  expect(answer.headers.get('retry-after')).toBe(String(24 * 60 * 60));
  expect(await storedKeys(app)).toEqual(keys);
  expect(await stagedIn(app)).toEqual([]);
  expect((await uploadFile(app, id, token, videoOf(MIB / 2))).status).toBe(200);
});

test('of three uploads at once that each fit, no more is stored than fits', async () => {
  const started = [await startAndStop(), await startAndStop(), await startAndStop()];
  const answers = await concurrently(3, (index) => {
    const { id = 0, token } = started[index] ?? {};
    return uploadFile(app, id, token, videoOf(0.4 * MIB));
  });
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429]);
});

test('an upload that finds the limit reached is refused before it is read', async () => {
  const waiting = await startAndStop();
  expect(await record(MIB)).toBe(200);
  const answer = await uploadFile(app, waiting.id, waiting.token, videoOf(1_000));
  expect([answer.status, answer.body.message]).toEqual([429, MESSAGE]);
});

test("other rooms, and recordings that the room's user starts or uploads, are not limited", async () => {
  const waiting = await startAndStop();
  expect(await record(MIB)).toBe(200);
  const own = (await app.http.post(`${ROOMS}/${room.name}/recordings`, team.owner.token)).body;
  expect((await uploadFile(app, own.recording.id, own.upload_token, videoOf(2 * MIB))).status).toBe(200);
  expect((await uploadFile(app, waiting.id, team.owner.token, videoOf(2 * MIB))).status).toBe(200);
  const other = (await app.http.post(ROOMS, team.owner.token, { workspace_id: team.id })).body.room;
  const token = await addGuest(app, { workspaceId: team.id, roomId: other.id });
  expect((await start(token, other)).status).toBe(200);
});

test('hosts and members in the room are not limited by what guests record, and do not count', async () => {
  const enter = async (session: string) =>
    (await app.http.post(`/api/rooms/${room.name}/join`, session)).body.participant.token;
  const sessions = [await enter(team.owner.token), await enter(team.member.token)];
  for (const token of sessions) {
    const { body } = await start(token);
    expect((await uploadFile(app, body.recording.id, body.upload_token, videoOf(2 * MIB))).status).toBe(200);
  }
  expect(await record(MIB)).toBe(200);
  expect((await start()).status).toBe(429);
  const { status, body } = await start(sessions[1]);
  expect([status, body.max_bytes]).toEqual([200, app.services.settings.maxRecordingBytes]);
  expect((await uploadFile(app, body.recording.id, body.upload_token, videoOf(2 * MIB))).status).toBe(200);
});

test('0 means no limit', async () => {
  const unlimited = await startTestApp({ settings: { participantRecordingBytes: 0 } });
  try {
    const { owner, id } = await addTeam(unlimited);
    const { body } = await unlimited.http.post(ROOMS, owner.token, { workspace_id: id });
    const token = await addGuest(unlimited, { workspaceId: id, roomId: body.room.id });
    const path = `/api/rooms/${body.room.name}/recordings`;
    const { recording, upload_token } = (await unlimited.http.post(path, undefined, { token })).body;
    expect((await uploadFile(unlimited, recording.id, upload_token, videoOf(2 * MIB))).status).toBe(200);
  } finally {
    await unlimited.close();
  }
});
