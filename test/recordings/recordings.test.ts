/** Lists of recordings, downloads, and transitions between statuses. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RecordingKey } from '../../src/features/recordings/recording-lifecycle.ts';
import { addKey } from '../rooms/keys.ts';
import type { Answer } from '../support/http.ts';
import { storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Person, type Team } from '../support/world.ts';
import { advance, start, storeFile } from './recording-fixtures.ts';

const ROOMS = '/api/dashboard/rooms';
const RECORDINGS = '/api/dashboard/recordings';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

type NewRoom = { id: number; name: string; workspace_id: number };

async function newRoom(by: Person, json: object = { workspace_id: team.id }): Promise<NewRoom> {
  return (await app.http.post(ROOMS, by.token, json)).body.room;
}

let archives = 0;
function newKey(room: NewRoom): RecordingKey {
  archives += 1;
  return { workspaceId: room.workspace_id, roomId: room.id, archiveId: `archive-${archives}` };
}

/** Adds an available recording. Returns its id and the key of its file. */
async function newRecording(room: NewRoom, { title = null }: { title?: string | null } = {}) {
  const key = newKey(room);
  const id = await start(app, { ...key, title });
  const fileKey = await storeFile(app, room.workspace_id, 'a recording');
  await advance(app, key, { status: 'available', fileKey, duration: 61.4, size: 11 });
  return { id, fileKey, key };
}

function expectError(answer: Answer, status: number, message: string): void {
  expect([answer.status, answer.body.message]).toEqual([status, message]);
}

function idsOf({ body }: Answer): number[] {
  return body.recordings.map(({ id }: { id: number }) => id);
}

async function eventsOf({ workspaceId, archiveId }: RecordingKey) {
  const events = await app.services.db.event.findMany({ where: { workspaceId }, orderBy: { id: 'asc' } });
  return events.filter(({ data }) => (data as { archive_id?: string }).archive_id === archiveId);
}

describe('lists', () => {
  test('show a recording from its start until it is available', async () => {
    const room = await newRoom(team.admin);
    const key = newKey(room);
    const id = await start(app, { ...key, title: 'Kick-off' });
    const list = async () => (await app.http.get(`${ROOMS}/${room.name}/recordings`, team.admin.token)).body.recordings;
    const started = {
      id,
      room_id: room.id,
      room_name: room.name,
      archive_id: key.archiveId,
      title: 'Kick-off',
      url: null,
      duration: 0,
      size: 0,
      status: 'started',
      failure_reason: null,
      poster_url: null,
      copy_error: null,
      is_abandoned: 0,
      created_at: expect.any(Number),
      ended_at: null,
    };
    expect(await list()).toEqual([started]);
    await advance(app, key, { status: 'uploaded', duration: 61.4, size: 3_000_000_000 });
    const uploaded = {
      ...started,
      status: 'uploaded',
      duration: 61,
      size: 3_000_000_000,
      ended_at: expect.any(Number),
    };
    expect(await list()).toEqual([uploaded]);
    await advance(app, key, { status: 'available', fileKey: await storeFile(app, team.id, 'x') });
    expect(await list()).toEqual([{ ...uploaded, status: 'available', url: `${app.url}${RECORDINGS}/${id}/download` }]);
    expect((await team.admin.client.recordings.listInRoom.query({ name: room.name })).recordings).toEqual(await list());
    expect((await app.http.get(`${ROOMS}/${room.name}`, team.admin.token)).body.room.recording_count).toBe(1);
  });

  test('contain the recordings of all rooms of the caller and of no others, newest first', async () => {
    const { owner, outsider } = await addTeam(app);
    const rooms = [await newRoom(owner, {}), await newRoom(owner, {})] as const;
    const foreign = await newRoom(outsider, {});
    const ids: number[] = [];
    for (const room of [rooms[0], rooms[1], rooms[0], foreign]) ids.unshift((await newRecording(room)).id);
    const own = ids.slice(1);
    expect(idsOf(await app.http.get(RECORDINGS, owner.token))).toEqual(own);
    expect((await owner.client.recordings.list.query()).recordings.map(({ id }) => id)).toEqual(own);
    expect(idsOf(await app.http.get(`${RECORDINGS}?limit=1&offset=1`, owner.token))).toEqual(own.slice(1, 2));
    const inRoom = `${ROOMS}/${rooms[0].name}/recordings`;
    expect(idsOf(await app.http.get(inRoom, owner.token))).toEqual([own[0], own[2]]);
    expect(idsOf(await app.http.get(`${inRoom}?limit=1&offset=1`, owner.token))).toEqual([own[2]]);
    expectError(await app.http.get(inRoom, outsider.token), 404, 'Room not found');
    for (const query of ['limit=0', 'limit=101', 'offset=-1']) {
      expect((await app.http.get(`${RECORDINGS}?${query}`, owner.token)).status).toBe(400);
      expect((await app.http.get(`${inRoom}?${query}`, owner.token)).status).toBe(400);
    }
  });

  test('contain only recordings of the workspace of a key', async () => {
    const inTeam = await newRecording(await newRoom(team.owner));
    const elsewhere = await newRecording(await newRoom(team.owner, {}));
    const key = await addKey(app, team.id, team.owner);
    const ids = idsOf(await app.http.get(RECORDINGS, key));
    expect(ids).toContain(inTeam.id);
    expect(ids).not.toContain(elsewhere.id);
    expect((await app.http.getJson(`${RECORDINGS}/${inTeam.id}/download`, key)).status).toBe(200);
    expectError(await app.http.get(`${RECORDINGS}/${elsewhere.id}/download`, key), 404, 'Recording not found');
  });

  test('require a credential', async () => {
    for (const path of [RECORDINGS, `${ROOMS}/ab/recordings`, `${RECORDINGS}/1/download`])
      expectError(await app.http.get(path), 401, 'Unauthorized');
  });
});

describe('download', () => {
  let room: NewRoom;
  beforeEach(async () => {
    room = await newRoom(team.admin);
  });

  const download = (id: number | string, { token } = team.admin) =>
    app.http.getJson(`${RECORDINGS}/${id}/download`, token);

  test.each([
    [null, ''],
    ['Kick-off.MP4', 'Kick-off.mp4'],
    ['Q1/Q2', 'Q1-Q2.mp4'],
    ['', ''],
  ])('title %j: serves the file as an attachment, without a credential', async (title, filename) => {
    const { id } = await newRecording(room, { title });
    const { body } = await download(id);
    expect(body).toEqual({ url: expect.stringContaining(`${app.url}/files/`), expires_at: expect.any(Number) });
    const seconds = body.expires_at - app.clock.now().getTime() / 1000;
    expect(Math.abs(seconds - 900)).toBeLessThan(10);
    const file = await fetch(body.url);
    expect(await file.text()).toBe('a recording');
    expect(file.headers.get('content-type')).toBe('video/mp4');
    expect(file.headers.get('content-disposition')).toContain(
      `attachment; filename="${filename || `${room.name}.mp4`}"`,
    );
  });

  test('an unknown recording, one of others and one that is not available get the same 404', async () => {
    const { id } = await newRecording(room);
    expect((await download(id)).status).toBe(200);
    expect((await download(id, team.owner)).status).toBe(200);
    for (const person of [team.member, team.outsider])
      expectError(await download(id, person), 404, 'Recording not found');
    expectError(await download(2_147_483_647), 404, 'Recording not found');
    const key = newKey(room);
    const unfinished = await start(app, key);
    expectError(await download(unfinished), 404, 'Recording not found');
    await advance(app, key, { status: 'uploaded', fileKey: await storeFile(app, team.id, 'x') });
    expectError(await download(unfinished), 404, 'Recording not found');
    await advance(app, key, { status: 'failed' });
    expectError(await download(unfinished), 404, 'Recording not found');
  });

  test('an id that is no integer: 400, and one that cannot exist: 404', async () => {
    expectError(await download('abc'), 400, 'recordingId must be a positive 32-bit integer');
    for (const id of ['0', '2147483648']) expectError(await download(id), 404, 'Recording not found');
  });
});

describe('transitions', () => {
  let key: RecordingKey;
  beforeEach(async () => {
    key = newKey(await newRoom(team.admin));
  });

  const types = async () => (await eventsOf(key)).map(({ type }) => type);

  test('repeated reports create one row and one event of each type, with all metadata', async () => {
    const id = await start(app, { ...key, title: 'First' });
    expect(await start(app, { ...key, title: 'Second' })).toBe(id);
    const fileKey = await storeFile(app, key.workspaceId, 'x');
    const done = { status: 'available', fileKey, duration: 90, size: 1 } as const;
    expect(await advance(app, key, done)).toBe(true);
    expect(await advance(app, key, { ...done, duration: 5, fileKey: 'v1/other', title: 'Third' })).toBe(false);
    expect(await types()).toEqual(['recording.started', 'recording.completed']);
    const [started, completed] = await eventsOf(key);
    const data = {
      workspace_id: key.workspaceId,
      room_id: key.roomId,
      room_name: expect.any(String),
      recording_id: id,
      archive_id: key.archiveId,
      title: 'First',
      created_at: expect.any(Number),
    };
    expect(started?.data).toEqual({ ...data, duration: 0, size: 0, status: 'started' });
    expect(completed?.data).toEqual({ ...data, duration: 90, size: 1, status: 'available' });
  });

  test('a late report changes nothing', async () => {
    await start(app, key);
    const fileKey = await storeFile(app, key.workspaceId, 'x');
    await advance(app, key, { status: 'available', fileKey });
    for (const status of ['uploaded', 'failed'] as const)
      expect(await advance(app, key, { status, duration: 7 })).toBe(false);
    const where = { workspaceId_roomId_archiveId: key };
    expect(await app.services.db.recording.findUnique({ where })).toMatchObject({
      status: 'available',
      duration: 0n,
      fileKey,
    });
  });

  test('a failed recording stays failed and emits no completion', async () => {
    await start(app, key);
    await advance(app, key, { status: 'failed' });
    expect(await advance(app, key, { status: 'available', fileKey: 'v1/none' })).toBe(false);
    expect(await types()).toEqual(['recording.started']);
  });

  test('the same archive_id in another room is another recording', async () => {
    const other = { ...key, roomId: (await newRoom(team.admin)).id };
    expect(await start(app, key)).not.toBe(await start(app, other));
  });

  test('an unknown room or recording, or one of another workspace: 404', async () => {
    const [personal] = (await team.owner.client.workspaces.list.query()).workspaces;
    const moved = { ...key, workspaceId: personal?.id ?? 0 };
    for (const wrong of [moved, { ...key, roomId: 2_147_483_647 }, { ...key, workspaceId: 2_147_483_647 }]) {
      await expect(start(app, wrong)).rejects.toMatchObject({ message: 'Room not found' });
      await expect(advance(app, wrong, { status: 'failed' })).rejects.toMatchObject({ message: 'Recording not found' });
    }
  });

  test('no recording becomes available without a file', async () => {
    await start(app, key);
    await expect(advance(app, key, { status: 'available' })).rejects.toThrow();
    expect(await types()).toEqual(['recording.started']);
  });
});

describe('deleting the room', () => {
  test.each([3, 25])('deletes its %i recordings and their files', async (count) => {
    const room = await newRoom(team.admin);
    const staying = await newRecording(await newRoom(team.admin));
    const recordings = await Promise.all(Array.from({ length: count }, () => newRecording(room)));
    expect((await app.http.delete(`${ROOMS}/${room.name}`, team.admin.token)).status).toBe(200);
    const own = recordings.map(({ fileKey }) => fileKey);
    // Up to twenty files are removed before the response, more after it.
    const isGone = async () => (await storedKeys(app)).filter((key) => own.includes(key)).length;
    if (count <= 20) expect(await isGone()).toBe(0);
    else await expect.poll(isGone).toBe(0);
    expect(await storedKeys(app)).toContain(staying.fileKey);
    expect(await app.services.db.recording.count({ where: { roomId: room.id } })).toBe(0);
    for (const { id } of recordings)
      expectError(await app.http.get(`${RECORDINGS}/${id}/download`, team.admin.token), 404, 'Recording not found');
  });
});
