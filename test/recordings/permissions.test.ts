/**
 * Access to recordings: the user of the room, the owner and admins of its workspace, participants in the room, and
 * nobody else.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { addKey } from '../rooms/keys.ts';
import type { Answer } from '../support/http.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { addGuest, uploadFile } from './recording-fixtures.ts';

const ROOMS = '/api/dashboard/rooms';
const RECORDINGS = '/api/dashboard/recordings';

let app: TestApp;
let team: Team;
let room: { id: number; name: string };
/** A recording that is running and one that is available, both of the admin's room. */
let running: number;
let available: number;
beforeAll(async () => {
  app = await startTestApp();
});
beforeEach(async () => {
  team = await addTeam(app);
  room = (await app.http.post(ROOMS, team.admin.token, { workspace_id: team.id })).body.room;
  const first = (await app.http.post(`${ROOMS}/${room.name}/recordings`, team.admin.token)).body;
  available = first.recording.id;
  expect((await uploadFile(app, available, first.upload_token)).status).toBe(200);
  running = (await app.http.post(`${ROOMS}/${room.name}/recordings`, team.admin.token)).body.recording.id;
});
afterAll(() => app.close());

type Call = (token: string) => Promise<Answer>;

/** In an order in which each operation can succeed after the others. */
const calls: Record<string, Call> = {
  stop: (token) => app.http.post(`${ROOMS}/${room.name}/recordings/${running}/stop`, token),
  upload: (token) => uploadFile(app, running, token),
  start: (token) => app.http.post(`${ROOMS}/${room.name}/recordings`, token),
  list: (token) => app.http.get(`${ROOMS}/${room.name}/recordings`, token),
  download: (token) => app.http.getJson(`${RECORDINGS}/${available}/download`, token),
  save: (token) => app.http.post(`${RECORDINGS}/${available}/save-to-library`, token),
  rename: (token) => app.http.patch(`${RECORDINGS}/${available}`, token, { title: 'Renamed' }),
  delete: (token) => app.http.delete(`${RECORDINGS}/${available}`, token),
};

async function statusesFor(token: string): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  for (const [name, call] of Object.entries(calls)) statuses[name] = (await call(token)).status;
  return statuses;
}

function all(status: number) {
  return Object.fromEntries(Object.keys(calls).map((name) => [name, status]));
}

function demote() {
  return app.http.patch(`${team.path}/members/${team.admin.id}`, team.owner.token, { role: 'member' });
}

test("the room's user may do everything by session", async () => {
  expect(await statusesFor(team.admin.token)).toEqual(all(200));
});

test("the room's user may do everything by a key of the workspace", async () => {
  expect(await statusesFor(await addKey(app, team.id, team.admin))).toEqual(all(200));
});

test("the room's user with the role member may do everything but rename and delete", async () => {
  await demote();
  expect(await statusesFor(team.admin.token)).toEqual({ ...all(200), rename: 403, delete: 403 });
});

test.each(['the owner', 'an admin', 'a key of the owner'])(
  '%s may do everything, as in a room of their own',
  async (who) => {
    await app.http.patch(`${team.path}/members/${team.member.id}`, team.owner.token, { role: 'admin' });
    const tokens: Record<string, string> = {
      'the owner': team.owner.token,
      'an admin': team.member.token,
      'a key of the owner': await addKey(app, team.id, team.owner),
    };
    expect(await statusesFor(tokens[who] ?? '')).toEqual(all(200));
    const { recordings } = (await app.http.get(`${team.path}/recordings`, team.owner.token)).body;
    expect(recordings.map(({ id }: { id: number }) => id)).not.toContain(available);
    expect((await app.http.get(RECORDINGS, team.owner.token)).body).toEqual({ recordings: [] });
  },
);

test('everybody else gets the same 404 for everything, also an admin of another workspace', async () => {
  const other = (await app.http.post('/api/workspaces', team.admin.token, { name: 'Other' })).body.workspace.id;
  const keyElsewhere = await addKey(app, other, team.admin);
  const { workspace } = (await app.http.post('/api/workspaces', team.owner.token, { name: 'Third' })).body;
  const ownerKeyElsewhere = await addKey(app, workspace.id, team.owner);
  for (const token of [team.member.token, team.outsider.token, keyElsewhere, ownerKeyElsewhere])
    expect(await statusesFor(token)).toEqual(all(404));
  expect(await app.services.db.recording.count({ where: { workspaceId: team.id } })).toBe(2);
});

test('an owner of the workspace who is demoted while waiting for the lock deletes nothing: 404', async () => {
  await app.http.patch(`${team.path}/members/${team.member.id}`, team.owner.token, { role: 'admin' });
  const answer = await changeWhileBlocked(
    app,
    `select 1 from workspaces where id = ${team.id} for no key update`,
    () => app.http.delete(`${RECORDINGS}/${available}`, team.member.token),
    (client) => client.query(`update members set role = 'member' where user_id = ${team.member.id}`),
  );
  expect([answer.status, answer.body.message]).toEqual([404, 'Recording not found']);
  expect(await app.services.db.recording.count({ where: { workspaceId: team.id } })).toBe(2);
});

test('a user who has left the workspace gets 404, and the owner, who has the room now, may do everything', async () => {
  await app.http.delete(`${team.path}/members/${team.admin.id}`, team.admin.token);
  expect(await statusesFor(team.admin.token)).toEqual(all(404));
  expect(await statusesFor(team.owner.token)).toEqual(all(200));
});

test('a participant may start and stop recordings in the room, and do nothing under /api/dashboard', async () => {
  const token = await addGuest(app, { workspaceId: team.id, roomId: room.id });
  expect(await statusesFor(token)).toEqual(all(401));
  const path = `/api/rooms/${room.name}/recordings`;
  // The recording that runs is the host's.
  expect((await app.http.post(`${path}/${running}/stop`, undefined, { token })).status).toBe(403);
  await app.http.post(`${ROOMS}/${room.name}/recordings/${running}/stop`, team.admin.token);
  const started = await app.http.post(path, undefined, { token });
  expect(started.status).toBe(200);
  expect((await app.http.post(`${path}/${started.body.recording.id}/stop`, undefined, { token })).status).toBe(200);
});
