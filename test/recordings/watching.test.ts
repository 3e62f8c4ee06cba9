/** Members of the workspace read and watch the recordings of rooms whose `recordings_visible_to` allows it. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { addKey } from '../rooms/keys.ts';
import { auditOf } from '../support/audit.ts';
import { jpeg } from '../support/images.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { uploadFile } from './recording-fixtures.ts';

const ROOMS = '/api/dashboard/rooms';

let app: TestApp;
let team: Team;
let room: { id: number; name: string };
let recordingId: number;
beforeAll(async () => {
  app = await startTestApp();
});
beforeEach(async () => {
  team = await addTeam(app);
  room = (await app.http.post(ROOMS, team.admin.token, { workspace_id: team.id })).body.room;
  recordingId = await record(room.name);
});
afterAll(() => app.close());

/** Adds a recording with a file and a poster, and returns its id. */
async function record(name: string): Promise<number> {
  const { recording, upload_token: token } = (await app.http.post(`${ROOMS}/${name}/recordings`, team.admin.token))
    .body;
  expect((await uploadFile(app, recording.id, token)).status).toBe(200);
  const headers = { 'content-type': 'image/jpeg' };
  const poster = { token, body: Uint8Array.from(jpeg), headers };
  expect((await app.http.call('PUT', `/api/recordings/${recording.id}/poster`, poster)).status).toBe(200);
  return recording.id;
}

function show(to: 'members' | 'hosts', name = room.name) {
  return app.http.patch(`${ROOMS}/${name}`, team.admin.token, { recordings_visible_to: to });
}
function pathOf(id = recordingId): string {
  return `${team.path}/recordings/${id}`;
}
async function statusesFor(token: string): Promise<number[]> {
  const answers = await Promise.all([
    app.http.get(pathOf(), token),
    app.http.getJson(`${pathOf()}/download`, token),
    app.http.get(`${pathOf()}/poster`, token),
  ]);
  return answers.map(({ status }) => status);
}
async function listedFor(token: string): Promise<number[]> {
  const { body } = await app.http.get(`${team.path}/recordings`, token);
  return body.recordings.map(({ id }: { id: number }) => id);
}

test('a member lists, reads and downloads, by the URLs of the list and over both transports', async () => {
  const { token, client } = team.member;
  const { recordings } = (await app.http.get(`${team.path}/recordings`, token)).body;
  expect(recordings).toMatchObject([{ id: recordingId, url: `${app.url}${pathOf()}/download` }]);
  const [recording] = recordings;
  expect((await app.http.get(pathOf(), token)).body).toEqual({ recording });
  const { url } = (await app.http.getJson(recording.url.slice(app.url.length), token)).body;
  expect((await fetch(url)).status).toBe(200);
  const poster = await fetch(recording.poster_url, { headers: { authorization: `Bearer ${token}` } });
  expect([poster.status, poster.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
  const input = { id: team.id, recordingId };
  expect(await client.recordings.listInWorkspace.query({ id: team.id })).toEqual({ recordings });
  expect(await client.recordings.readInWorkspace.query(input)).toEqual({ recording });
  const typed = await client.recordings.downloadInWorkspace.query(input);
  expect((await fetch(typed.url)).status).toBe(200);
});

test('a room that keeps its recordings for hosts hides them from members alone, at once', async () => {
  await show('hosts');
  expect(await statusesFor(team.member.token)).toEqual([404, 404, 404]);
  expect(await listedFor(team.member.token)).toEqual([]);
  for (const { token } of [team.owner, team.admin]) {
    expect(await statusesFor(token)).toEqual([200, 200, 200]);
    expect(await listedFor(token)).toEqual([recordingId]);
  }
  await show('members');
  expect(await statusesFor(team.member.token)).toEqual([200, 200, 200]);
});

test('the user of a room watches its recordings as a member too', async () => {
  await show('hosts');
  await app.http.patch(`${team.path}/members/${team.admin.id}`, team.owner.token, { role: 'member' });
  expect(await statusesFor(team.admin.token)).toEqual([200, 200, 200]);
  expect(await listedFor(team.admin.token)).toEqual([recordingId]);
});

test('nothing below /api/dashboard grows for a member, and nothing can be changed', async () => {
  const { token } = team.member;
  for (const path of [ROOMS, '/api/dashboard/recordings'])
    expect(Object.values((await app.http.get(path, token)).body)).toEqual([[]]);
  const own = `/api/dashboard/recordings/${recordingId}`;
  const answers = await Promise.all([
    app.http.get(`${ROOMS}/${room.name}`, token),
    app.http.get(`${ROOMS}/${room.name}/recordings`, token),
    app.http.getJson(`${own}/download`, token),
    app.http.get(`${own}/poster`, token),
    app.http.patch(own, token, { title: 'Mine' }),
    app.http.delete(own, token),
    app.http.post(`${own}/save-to-library`, token),
    app.http.post(`${ROOMS}/${room.name}/recordings`, token),
    app.http.patch(`${ROOMS}/${room.name}`, token, { recordings_visible_to: 'hosts' }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
});

test('people outside of the workspace, and members of another, get nothing', async () => {
  expect(await statusesFor(team.outsider.token)).toEqual([403, 403, 403]);
  const other = await addTeam(app);
  for (const suffix of ['', '/download', '/poster']) {
    const answer = await app.http.getJson(`${other.path}/recordings/${recordingId}${suffix}`, other.owner.token);
    expect([answer.status, answer.body.message]).toEqual([404, 'Recording not found']);
  }
  await app.http.delete(`${team.path}/members/${team.member.id}`, team.owner.token);
  expect(await statusesFor(team.member.token)).toEqual([403, 403, 403]);
});

test('an API key needs the scope to read recordings, and watches with the role of its creator', async () => {
  const input = (scopes: string[]) => ({ name: 'Key', scopes });
  const create = async (scopes: string[]) =>
    (await app.http.post(`${team.path}/api-keys`, team.admin.token, input(scopes))).body.apiKey.full_key;
  const [reader, other] = [await create(['recordings:read']), await create(['rooms:read'])];
  expect(await statusesFor(reader)).toEqual([200, 200, 200]);
  expect(await statusesFor(other)).toEqual([403, 403, 403]);
  const keyOfMember = await addKey(app, team.id, team.admin);
  const second = (await app.http.post(ROOMS, team.owner.token, { workspace_id: team.id })).body.room;
  await app.http.patch(`${team.path}/members/${team.admin.id}`, team.owner.token, { role: 'member' });
  const both = { id: { in: [room.id, second.id] } };
  await app.services.db.room.updateMany({ where: both, data: { recordingsVisibleTo: 'hosts' } });
  const hidden = (await app.http.post(`${ROOMS}/${second.name}/recordings`, team.owner.token)).body.recording.id;
  expect(await listedFor(keyOfMember)).toEqual([recordingId]);
  expect((await app.http.get(pathOf(hidden), keyOfMember)).status).toBe(404);
});

test('an owner or admin changes all rooms at once, which the audit log records once', async () => {
  const second = (await app.http.post(ROOMS, team.owner.token, { workspace_id: team.id })).body.room;
  const path = `${team.path}/recordings-visibility`;
  const change = (token: string, recordings_visible_to: string) =>
    app.http.patch(path, token, { recordings_visible_to });
  expect((await change(team.member.token, 'hosts')).status).toBe(403);
  const answer = await change(team.admin.token, 'hosts');
  expect([answer.status, answer.body]).toEqual([200, { recordings_visible_to: 'hosts', changed_rooms: 2 }]);
  const typed = { id: team.id, recordings_visible_to: 'hosts' } as const;
  const again = await team.owner.client.rooms.setRecordingsVisibility.mutate(typed);
  expect(again).toEqual({ recordings_visible_to: 'hosts', changed_rooms: 0 });
  for (const { name } of [room, second])
    expect((await app.http.get(`${team.path}/rooms/${name}`, team.member.token)).body.room).toMatchObject({
      recordings_visible_to: 'hosts',
    });
  expect(await listedFor(team.member.token)).toEqual([]);
  const entries = (await auditOf(app, team.id)).filter(({ action }) => action === 'room.recordings_visibility_changed');
  expect(entries).toMatchObject([{ details: { after: { recordings_visible_to: 'hosts', rooms: 2 } } }]);
});

test('the audit log records who changed the access to a room, and nothing for other settings', async () => {
  await app.http.patch(`${ROOMS}/${room.name}`, team.owner.token, { display_name: 'Talks' });
  await app.http.patch(`${ROOMS}/${room.name}`, team.owner.token, { members_only: 1, who_may_record: 'everyone' });
  const entries = (await auditOf(app, team.id)).filter(({ action }) => action === 'room.access_changed');
  expect(entries).toMatchObject([
    { actor: ['user', team.owner.id, null], details: { before: { members_only: 0 }, after: { members_only: 1 } } },
  ]);
});
