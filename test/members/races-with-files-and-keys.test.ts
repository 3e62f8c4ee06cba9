/** Changes of members during their own requests. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, upload } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('uploads succeed while the role of the uploader changes', async () => {
  const { id, path, owner, admin } = await addTeam(app);
  const changeRoles = async (): Promise<void> => {
    for (let round = 0; round < 12; round += 1)
      await owner.client.members.changeRole.mutate({ id, userId: admin.id, role: round % 2 ? 'admin' : 'member' });
  };
  const uploads = Array.from({ length: 24 }, async () => (await upload(app, path, admin.token)).status);
  const [statuses] = await Promise.all([Promise.all(uploads), changeRoles()]);
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test('no key that is created or activated while its creator is being removed works afterwards', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { id, owner, admin } = await addTeam(app);
    const { apiKey } = await admin.client.apiKeys.create.mutate({ id, name: 'Old' });
    const activation = { id, keyId: apiKey.id, is_active: 1 as const };
    await Promise.allSettled([
      ...Array.from({ length: 6 }, () => admin.client.apiKeys.create.mutate({ id, name: 'New' })),
      owner.client.members.remove.mutate({ id, userId: admin.id }),
      ...Array.from({ length: 6 }, () => admin.client.apiKeys.toggle.mutate(activation)),
    ]);
    const { apiKeys } = await owner.client.apiKeys.list.query({ id });
    expect(apiKeys.length).toBeGreaterThan(0);
    expect(apiKeys.filter(({ is_active }) => is_active === 1)).toEqual([]);
  }
});
