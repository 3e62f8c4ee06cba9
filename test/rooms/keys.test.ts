/** Rooms by API key: a key acts for its creator, in its workspace only. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../support/http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { addKey } from './keys.ts';

const ROOMS = '/api/dashboard/rooms';

let app: TestApp;
let team: Team;
let other: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  other = await addTeam(app, 'Other');
});
afterAll(() => app.close());

function expectError(answer: Answer, status: number, message: string): void {
  expect([answer.status, answer.body.message]).toEqual([status, message]);
}

test("a new room is in the key's workspace and belongs to the key's creator", async () => {
  const key = await addKey(app, team.id, team.admin);
  for (const json of [{}, { workspace_id: team.id }, { workspaceId: team.id }])
    expect(await app.http.post(ROOMS, key, json)).toMatchObject({
      status: 201,
      body: { room: { workspace_id: team.id, user_id: team.admin.id } },
    });
});

test('another workspace: 403, an unknown one: 404', async () => {
  const key = await addKey(app, team.id, team.admin);
  const { workspaces } = await team.admin.client.workspaces.list.query();
  const elsewhere = [other.id, ...workspaces.map(({ id }) => id).filter((id) => id !== team.id)];
  expect(elsewhere.length).toBeGreaterThan(1);
  for (const workspace_id of elsewhere)
    for (const json of [{ workspace_id }, { workspaceId: workspace_id }])
      expectError(await app.http.post(ROOMS, key, json), 403, 'Forbidden');
  for (const json of [{ workspace_id: 2_147_483_647 }, { workspace_id: 0 }, { workspaceId: 2_147_483_648 }])
    expectError(await app.http.post(ROOMS, key, json), 404, 'Workspace not found');
  expectError(await app.http.get(`${other.path}/rooms`, key), 403, 'Forbidden');
});

test('a key of an owner reads, changes and deletes all rooms of its workspace, and no others', async () => {
  const key = await addKey(app, team.id, team.owner);
  await app.http.post(ROOMS, team.owner.token, { name: 'of-the-team', workspace_id: team.id });
  await app.http.post(ROOMS, team.owner.token, { name: 'in-personal' });
  await app.http.post(ROOMS, team.admin.token, { name: 'of-the-admin', workspace_id: team.id });
  const { body } = await app.http.get(ROOMS, key);
  expect(body.rooms.map(({ name }: { name: string }) => name)).toEqual(['of-the-team']);
  expectError(await app.http.get(`${ROOMS}/in-personal`, key), 404, 'Room not found');
  expectError(await app.http.delete(`${ROOMS}/in-personal`, key), 404, 'Room not found');
  expectError(await app.http.patch(`${ROOMS}/in-personal`, key, {}), 404, 'Room not found');
  expect((await app.http.patch(`${ROOMS}/of-the-admin`, key, { display_name: 'Key' })).status).toBe(200);
  expect((await app.http.get(`${ROOMS}/of-the-admin`, key)).body.room).toMatchObject({ user_id: team.admin.id });
  expect((await app.http.get(`${team.path}/rooms`, key)).body.rooms.length).toBeGreaterThan(1);
  expect((await app.http.delete(`${ROOMS}/of-the-admin`, key)).status).toBe(200);
});

test('a key has the current role of its creator', async () => {
  const { id, owner, member } = team;
  await owner.client.members.changeRole.mutate({ id, userId: member.id, role: 'admin' });
  const key = await addKey(app, id, member);
  const { body } = await app.http.post(ROOMS, key);
  await owner.client.members.changeRole.mutate({ id, userId: member.id, role: 'member' });
  const path = `${ROOMS}/${body.room.name}`;
  expectError(await app.http.post(ROOMS, key), 403, 'Forbidden');
  expectError(await app.http.patch(path, key, { display_name: 'X' }), 403, 'Forbidden');
  expectError(await app.http.delete(path, key), 403, 'Forbidden');
  expect((await app.http.get(path, key)).status).toBe(200);
});
