import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, upload } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('invites are created and revoked during uploads and deletions of files, and no call fails', async () => {
  const { path, owner, member } = await addTeam(app);
  const statuses = new Set<number>();
  const files = async (): Promise<void> => {
    for (let round = 0; round < 10; round += 1) {
      const { status, body } = await upload(app, path, member.token);
      statuses.add(status).add((await app.http.delete(`${path}/library/${body.item?.id}`, member.token)).status);
    }
  };
  const invites = async (): Promise<void> => {
    for (let round = 0; round < 20; round += 1) {
      statuses.add((await app.http.post(`${path}/invite`, owner.token)).status);
      statuses.add((await app.http.delete(`${path}/invite`, owner.token)).status);
    }
  };
  await Promise.all([files(), files(), files(), files(), invites(), invites(), invites()]);
  expect([...statuses]).toEqual([200]);
});
