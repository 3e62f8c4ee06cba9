/** Renaming and deleting recordings, and saving them to the library. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { serviceUnavailable } from '../../src/core/errors.ts';
import { defaultQuotas, type Quotas } from '../../src/quotas/quotas.ts';
import { createFaultyStore, failUnavailable } from '../library/upload/faults.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { eventsOf } from '../support/events.ts';
import type { Answer } from '../support/http.ts';
import { jpeg } from '../support/images.ts';
import { makeMp4 } from '../support/media.ts';
import { storedKeys } from '../support/stored-files.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { advance, start, uploadFile, videoForm } from './recording-fixtures.ts';

const ROOMS = '/api/dashboard/rooms';
const RECORDINGS = '/api/dashboard/recordings';

const { faults, wrapStore, real } = createFaultyStore();
const quotas: Quotas = { ...defaultQuotas };

let app: TestApp;
let team: Team;
let room: { id: number; name: string };
let recordingId: number;
beforeAll(async () => {
  app = await startTestApp({ wrapStore, settings: { quotas } });
});
beforeEach(async () => {
  team = await addTeam(app);
  room = (await app.http.post(ROOMS, team.admin.token, { workspace_id: team.id })).body.room;
  recordingId = await newRecording();
});
afterEach(() => {
  for (const name of Object.keys(faults)) Reflect.deleteProperty(faults, name);
  Object.assign(quotas, defaultQuotas);
});
afterAll(() => app.close());

const VIDEO = makeMp4({ durationSeconds: 61.6, moov: 'back', mdatBytes: 200_000 });

/** Adds an available recording to the admin's room. */
async function newRecording(title: string | null = null): Promise<number> {
  const { body } = await app.http.post(`${ROOMS}/${room.name}/recordings`, team.admin.token, { title });
  const { status } = await uploadFile(app, body.recording.id, body.upload_token, videoForm(VIDEO));
  expect(status).toBe(200);
  return body.recording.id;
}

function keysOf(): Promise<string[]> {
  return storedKeys(app, team.id);
}

function expectError(answer: Answer, status: number, message: string): void {
  expect([answer.status, answer.body.message]).toEqual([status, message]);
}

function rename(title: unknown, token = team.admin.token) {
  return app.http.patch(`${RECORDINGS}/${recordingId}`, token, { title });
}
function remove(token = team.admin.token) {
  return app.http.delete(`${RECORDINGS}/${recordingId}`, token);
}
function save(json?: object, token = team.admin.token, id = recordingId) {
  return app.http.post(`${RECORDINGS}/${id}/save-to-library`, token, json);
}

function demote() {
  return app.http.patch(`${team.path}/members/${team.admin.id}`, team.owner.token, { role: 'member' });
}

describe('rename', () => {
  test('sets or clears the title', async () => {
    for (const [title, kept] of [
      [' Weekly ', 'Weekly'],
      ['x'.repeat(200), 'x'.repeat(200)],
      ['', null],
      [null, null],
    ]) {
      const { status, body } = await rename(title);
      expect([status, body.recording.id, body.recording.title]).toEqual([200, recordingId, kept]);
    }
    const { recording } = await team.admin.client.recordings.rename.mutate({ recordingId, title: 'Typed' });
    expect(recording.title).toBe('Typed');
  });

  test('requires the role owner or admin in the workspace', async () => {
    for (const { token } of [team.member, team.outsider])
      expectError(await rename('Mine', token), 404, 'Recording not found');
    expect((await rename('Ours', team.owner.token)).body.recording.title).toBe('Ours');
    await rename(null);
    await demote();
    expectError(await rename('Mine'), 403, 'Forbidden');
    expectError(await remove(), 403, 'Forbidden');
    expect((await app.http.get(RECORDINGS, team.admin.token)).body.recordings[0].title).toBeNull();
  });
});

describe('delete', () => {
  test('removes the row, its part of the totals and its file', async () => {
    expect(await keysOf()).toHaveLength(1);
    expect(await remove()).toMatchObject({ status: 200, body: { ok: true } });
    expect(await keysOf()).toEqual([]);
    expectError(await remove(), 404, 'Recording not found');
    const workspace = await app.services.db.workspace.findUnique({ where: { id: team.id } });
    expect([workspace?.recordingCount, workspace?.recordingSeconds]).toEqual([0, 0n]);
  });

  test('of a recording of others: 404, and nothing is deleted', async () => {
    for (const { token } of [team.member, team.outsider]) expectError(await remove(token), 404, 'Recording not found');
    expect(await keysOf()).toHaveLength(1);
  });

  test('succeeds while the store is down, and the file is removed later', async () => {
    faults.remove = failUnavailable;
    expect((await remove()).status).toBe(200);
    expect(await app.services.db.discardedObject.count()).toBe(1);
    await app.services.db.discardedObject.deleteMany();
  });

  test('of ten at once, one succeeds', async () => {
    expect(countStatuses(await concurrently(10, () => remove()))).toEqual({ 200: 1, 404: 9 });
  });
});

describe('save to the library', () => {
  test('creates an independent copy with all metadata, and emits one event', async () => {
    const { status, body } = await save({ name: 'Kick-off.mp4', description: 'Day one' });
    expect(status).toBe(200);
    expect(body.item).toMatchObject({
      workspace_id: team.id,
      uploaded_by: team.admin.id,
      uploaded_by_name: team.admin.name,
      name: 'Kick-off.mp4',
      description: 'Day one',
      mime_type: 'video/mp4',
      size: VIDEO.length,
      duration: 62,
      labels: [],
    });
    expect(await app.http.get(`${team.path}/library/${body.item.id}`, team.member.token)).toMatchObject({ body });
    expect(await eventsOf(app, team.id, 'library_item.uploaded')).toHaveLength(1);
    const recording = await app.services.db.recording.findFirst({ where: { id: recordingId } });
    const item = await app.services.db.libraryItem.findFirst({ where: { id: body.item.id } });
    expect(item?.sha256).toEqual(recording?.sha256);
    await remove();
    const { url } = (await app.http.get(`${team.path}/library/${body.item.id}/download`, team.member.token)).body;
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(VIDEO)).toBe(true);
  });

  test('the name is the title or else the name of the room, with the extension of a video', async () => {
    expect((await save()).body.item.name).toBe(`${room.name}.mp4`);
    for (const [title, name] of [
      ['Weekly', 'Weekly.mp4'],
      ['Weekly.MP4', 'Weekly.MP4'],
    ]) {
      await rename(title);
      expect((await save({})).body.item.name).toBe(name);
    }
    expect(await keysOf()).toHaveLength(4);
  });

  test('a recording of others: 404; one that is not available: 409', async () => {
    for (const { token } of [team.member, team.outsider])
      expectError(await save({}, token), 404, 'Recording not found');
    const key = { workspaceId: team.id, roomId: room.id, archiveId: 'unfinished' };
    const unfinished = await start(app, key);
    expectError(await save({}, team.admin.token, unfinished), 409, 'The recording is not available yet');
    await advance(app, key, { status: 'uploaded' });
    expectError(await save({}, team.admin.token, unfinished), 409, 'The recording is not available yet');
    await advance(app, key, { status: 'failed' });
    expectError(await save({}, team.admin.token, unfinished), 409, 'The recording has failed');
    expect(await keysOf()).toHaveLength(1);
  });

  test('exactly 100 MB are accepted, and one byte more is refused before anything is copied', async () => {
    const resize = (size: number) =>
      app.services.db.recording.updateMany({ where: { id: recordingId }, data: { size: BigInt(size) } });
    await resize(104_857_601);
    const answer = await save();
    expectError(answer, 400, 'File is larger than 100 MB');
    expect(answer.body.issues).toEqual([{ path: 'recordingId', message: 'File is larger than 100 MB' }]);
    expect(await keysOf()).toHaveLength(1);
    await resize(104_857_600);
    expect((await save()).status).toBe(200);
  });

  test('while the store is down: 500, and nothing is left', async () => {
    faults.copy = failUnavailable;
    const answer = await save();
    expectError(answer, 500, 'Upload failed: storage service unavailable');
    expect(answer.body.code).toBe('STORAGE_UNAVAILABLE');
    expect(await keysOf()).toHaveLength(1);
    expect(await app.services.db.libraryItem.count({ where: { workspaceId: team.id } })).toBe(0);
  });

  test('what a quota refuses is not copied', async () => {
    let copied = 0;
    faults.copy = async (from, to) => {
      copied += 1;
      await real().copy(from, to);
    };
    quotas.bytes = 2 * VIDEO.length - 1;
    expect((await save()).body.error).toMatch(/^The workspace has reached the quota of \d+ bytes/);
    expect([copied, (await keysOf()).length]).toEqual([0, 1]);
    quotas.bytes = 2 * VIDEO.length;
    expect((await save()).status).toBe(200);
    quotas.items = 1;
    expect((await save()).body.error).toMatch(/^The workspace has reached the quota of 1 library items/);
    expect(copied).toBe(1);
  });

  test('if the copy of the poster has to wait for too long: 503, and nothing is left', async () => {
    await fetch(`${app.url}/api/recordings/${recordingId}/poster`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${team.admin.token}`, 'content-type': 'image/jpeg' },
      body: new Uint8Array(jpeg),
    });
    const before = await keysOf();
    expect(before).toHaveLength(2);
    faults.copy = async (from, to) => {
      if (to.includes('/posters/')) throw serviceUnavailable('Too many files are being copied', 5);
      await real().copy(from, to);
    };
    expect((await save()).status).toBe(503);
    expect(await keysOf()).toEqual(before);
  });

  test('a recording that is deleted before the copy: 404', async () => {
    faults.copy = async (from, to) => {
      await remove();
      await real().copy(from, to);
    };
    expectError(await save(), 404, 'Recording not found');
    expect(await keysOf()).toEqual([]);
  });

  test('a caller who is removed during the copy: 403, and the copy is removed', async () => {
    faults.copy = async (from, to) => {
      await real().copy(from, to);
      expect(await keysOf()).toHaveLength(2);
      await app.http.delete(`${team.path}/members/${team.admin.id}`, team.owner.token);
    };
    expectError(await save(), 403, 'Forbidden');
    expect(await keysOf()).toHaveLength(1);
    expect(await eventsOf(app, team.id, 'library_item.uploaded')).toEqual([]);
  });

  test('a workspace that is deleted during the copy: 404, and the copy is removed', async () => {
    faults.copy = async (from, to) => {
      await real().copy(from, to);
      await app.http.delete(team.path, team.owner.token);
    };
    expectError(await save(), 404, 'Workspace not found');
    await expect.poll(keysOf).toEqual([]);
  });
});
