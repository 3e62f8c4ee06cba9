/** The session of a room at its meeting provider, which is unique in the workspace. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const ROOMS = '/api/dashboard/rooms';
const TAKEN = 'Session is already used by another room';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

function create(json: object) {
  return app.http.post(ROOMS, team.owner.token, { workspace_id: team.id, ...json });
}
function change(name: string, json: object) {
  return app.http.patch(`${ROOMS}/${name}`, team.owner.token, json);
}

test('a session is set, trimmed, changed and cleared', async () => {
  expect(await create({ name: 'one' })).toMatchObject({ status: 201, body: { room: { session_id: null } } });
  const { body } = await create({ name: 'two', session_id: ' 2_MX4xMjM~ ' });
  expect(body.room.session_id).toBe('2_MX4xMjM~');
  expect((await change('two', { session_id: 's-2' })).body.room.session_id).toBe('s-2');
  expect((await change('two', { display_name: 'Two' })).body.room.session_id).toBe('s-2');
  expect((await change('two', { session_id: 's-2' })).status).toBe(200);
  for (const session_id of [null, ' ']) {
    await change('two', { session_id: 's-2' });
    expect((await change('two', { session_id })).body.room.session_id).toBeNull();
  }
  const { room } = await team.owner.client.rooms.update.mutate({ name: 'two', session_id: 's-3' });
  expect(room.session_id).toBe('s-3');
});

test('the session of another room: 409, and nothing changes; another workspace may use it', async () => {
  await create({ name: 'first', session_id: 'shared' });
  await create({ name: 'second', session_id: 'own' });
  expect(await create({ name: 'third', session_id: 'shared' })).toMatchObject({
    status: 409,
    body: { message: TAKEN },
  });
  expect(await change('second', { session_id: 'shared', display_name: 'X' })).toMatchObject({
    status: 409,
    body: { message: TAKEN },
  });
  expect((await app.http.get(`${ROOMS}/second`, team.owner.token)).body.room).toMatchObject({
    session_id: 'own',
    display_name: null,
  });
  expect((await app.http.get(`${ROOMS}/third`, team.owner.token)).status).toBe(404);
  expect(await create({ name: 'first', session_id: 'shared' })).toMatchObject({
    status: 409,
    body: { message: 'Room name already taken' },
  });
  const elsewhere = await app.http.post(ROOMS, team.owner.token, { name: 'elsewhere', session_id: 'shared' });
  expect(elsewhere.status).toBe(201);
});

test('of 20 rooms that set the same session at once, exactly one gets it', async () => {
  const created = await concurrently(20, (index) => create({ name: `wants-${index}`, session_id: 'wanted' }));
  expect(countStatuses(created)).toEqual({ 201: 1, 409: 19 });
  for (let index = 0; index < 10; index += 1) await create({ name: `has-none-${index}` });
  const changed = await concurrently(10, (index) => change(`has-none-${index}`, { session_id: 'wanted too' }));
  expect(countStatuses(changed)).toEqual({ 200: 1, 409: 9 });
});
