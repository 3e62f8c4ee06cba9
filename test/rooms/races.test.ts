/** Concurrent changes of rooms. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Team } from '../support/world.ts';

const ROOMS = '/api/dashboard/rooms';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

test('of 50 rooms with one name, in three workspaces, exactly one is created, with one event', async () => {
  const answers = await concurrently(50, (index) => {
    const by = [team.owner, team.admin][index % 2] ?? team.owner;
    return app.http.post(ROOMS, by.token, { name: 'wanted', ...(index % 3 === 0 && { workspace_id: team.id }) });
  });
  expect(countStatuses(answers)).toEqual({ 201: 1, 409: 49 });
  const events = await app.services.db.event.findMany({ where: { type: 'room.created' } });
  expect(events.map(({ data }) => data)).toMatchObject([{ room_name: 'wanted' }]);
});

test('50 rooms that are created without a name at once have different names', async () => {
  const answers = await concurrently(50, () => app.http.post(ROOMS, team.admin.token));
  expect(countStatuses(answers)).toEqual({ 201: 50 });
  expect(new Set(answers.map(({ body }) => body.room.name)).size).toBe(50);
});

test('of 20 deletions of one room exactly one succeeds', async () => {
  await app.http.post(ROOMS, team.admin.token, { name: 'once' });
  const answers = await concurrently(20, () => app.http.delete(`${ROOMS}/once`, team.admin.token));
  expect(countStatuses(answers)).toEqual({ 200: 1, 404: 19 });
});

test('a concurrent update of a deleted room succeeds or gets 404', async () => {
  await concurrently(10, async (index) => {
    const path = `${ROOMS}/changing-${index}`;
    await app.http.post(ROOMS, team.admin.token, { name: `changing-${index}`, workspace_id: team.id });
    const [deleted, ...changed] = await Promise.all([
      app.http.delete(path, team.admin.token),
      app.http.patch(path, team.admin.token, { display_name: 'X' }),
      app.http.patch(path, team.admin.token, { scheduled_at: 1 }),
    ]);
    expect(deleted?.status).toBe(200);
    for (const { status } of changed) expect([200, 404]).toContain(status);
    expect((await app.http.get(path, team.admin.token)).status).toBe(404);
  });
});

test('a workspace that is deleted while its rooms are created and updated leaves none behind', async () => {
  await concurrently(6, async (index) => {
    const owner = await addPerson(app);
    const { workspace } = await owner.client.workspaces.create.mutate({ name: 'Short-lived' });
    const name = `short-lived-${index}`;
    await app.http.post(ROOMS, owner.token, { name, workspace_id: workspace.id });
    const [deleted, changed, ...created] = await Promise.all([
      app.http.delete(`/api/workspaces/${workspace.id}`, owner.token),
      app.http.patch(`${ROOMS}/${name}`, owner.token, { display_name: 'X' }),
      ...Array.from({ length: 4 }, () => app.http.post(ROOMS, owner.token, { workspace_id: workspace.id })),
    ]);
    expect(deleted?.status).toBe(200);
    expect([200, 404]).toContain(changed?.status);
    if (changed?.status === 404) expect(changed.body.message).toBe('Room not found');
    for (const { status, body } of created)
      expect([201, 'Workspace not found']).toContain(status === 201 ? 201 : body.message);
    expect((await app.http.get(ROOMS, owner.token)).body.rooms).toEqual([]);
  });
});
