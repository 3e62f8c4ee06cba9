import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from './support/test-app.ts';
import { addTeam, upload } from './support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('a file travels', async () => {
  const team = await addTeam(app);
  const up = await upload(app, team.path, team.member.token);
  expect(up.status).toBe(200);
  expect((await app.http.get(`${team.path}/library`, team.owner.token)).body.total).toBe(1);
});
