import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('the keys of a removed member never work again, not even when the member joins again', async () => {
  const { id, path, owner, admin } = await addTeam(app);
  const { apiKey } = await admin.client.apiKeys.create.mutate({ id, name: 'Build' });
  await owner.client.members.remove.mutate({ id, userId: admin.id });
  const { token } = await owner.client.workspaces.invite.mutate({ id });
  await admin.client.workspaces.join.mutate({ token });
  expect((await app.http.get(`${path}/labels`, apiKey.full_key)).status).toBe(401);

  const { apiKeys } = await owner.client.apiKeys.list.query({ id });
  expect(apiKeys.map(({ is_active }) => is_active)).toEqual([0]);
  expect((await app.http.patch(`${path}/api-keys/${apiKey.id}`, owner.token, { is_active: 1 })).status).toBe(409);
  expect((await app.http.get(`${path}/labels`, apiKey.full_key)).status).toBe(401);
});
