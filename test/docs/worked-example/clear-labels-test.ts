import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team, upload } from '../../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

test('removing all labels leaves the item without any, and doing it again changes nothing', async () => {
  const { token } = team.member;
  const { item } = (await upload(app, team.path, token)).body;
  const { label } = (await app.http.post(`${team.path}/labels`, team.owner.token, { name: 'Contracts' })).body;
  const path = `${team.path}/library/${item.id}`;
  await app.http.post(`${path}/labels`, token, { labelId: label.id });
  expect((await app.http.delete(`${path}/labels`, token)).body).toEqual({ removed: 1 });
  expect((await app.http.get(path, token)).body.item.labels).toEqual([]);
  expect((await app.http.delete(`${path}/labels`, token)).body).toEqual({ removed: 0 });
});
