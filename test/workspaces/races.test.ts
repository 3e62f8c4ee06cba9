/** Concurrent changes of workspaces. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { eventsOf } from '../support/events.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, upload } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('30 workspaces with the same name have 30 different slugs', async () => {
  const { token } = await addPerson(app);
  const answers = await concurrently(30, () => app.http.post('/api/workspaces', token, { name: 'Same name' }));
  expect(countStatuses(answers)).toEqual({ 200: 30 });
  const slugs = answers.map(({ body }) => body.workspace.slug);
  expect(new Set(slugs).size).toBe(30);
  for (const slug of slugs) expect(slug).toMatch(/^same-name(-\d+)?$/);
});

test('20 concurrent first requests for the invite of a workspace return the same token', async () => {
  const { token, client } = await addPerson(app);
  const { workspace } = await client.workspaces.create.mutate({ name: 'Inviting' });
  const answers = await concurrently(20, () => app.http.post(`/api/workspaces/${workspace.id}/invite`, token));
  expect(countStatuses(answers)).toEqual({ 200: 20 });
  expect(new Set(answers.map(({ body }) => body.token)).size).toBe(1);
});

test('a user who joins 20 times concurrently becomes one member, with one member.joined', async () => {
  const team = await addTeam(app);
  const guest = await addPerson(app);
  const { token } = await team.owner.client.workspaces.invite.mutate({ id: team.id });
  const before = await eventsOf(app, team.id, 'member.joined');
  const answers = await concurrently(20, () => app.http.post(`/api/workspaces/join/${token}`, guest.token));
  expect(countStatuses(answers)).toEqual({ 200: 20 });
  expect(await app.services.db.member.count({ where: { workspaceId: team.id } })).toBe(4);
  expect(await eventsOf(app, team.id, 'member.joined')).toHaveLength(before.length + 1);
});

test('joining while the link is being revoked either succeeds or is 404', async () => {
  const team = await addTeam(app);
  await concurrently(20, async () => {
    const guest = await addPerson(app);
    const { token } = await team.owner.client.workspaces.invite.mutate({ id: team.id });
    const [joined] = await Promise.all([
      app.http.post(`/api/workspaces/join/${token}`, guest.token),
      app.http.delete(`${team.path}/invite`, team.owner.token),
    ]);
    expect([200, 404]).toContain(joined.status);
    const isMember = await app.services.db.member.count({ where: { workspaceId: team.id, userId: guest.id } });
    expect(isMember).toBe(joined.status === 200 ? 1 : 0);
  });
});

test('of 20 deletions of a workspace exactly one succeeds', async () => {
  const team = await addTeam(app);
  const answers = await concurrently(20, () => app.http.delete(team.path, team.owner.token));
  expect(countStatuses(answers)).toEqual({ 200: 1, 404: 19 });
});

test('deleting a workspace during all other operations leaves nothing, and no call fails unexpectedly', async () => {
  for (let round = 0; round < 10; round += 1) {
    const team = await addTeam(app, `Round ${round}`);
    const guest = await addPerson(app);
    const { token } = await team.owner.client.workspaces.invite.mutate({ id: team.id });
    const label = (name: string) => app.http.post(`${team.path}/labels`, team.admin.token, { name });
    const labels = await concurrently(3, async (index) => (await label(`Label ${index}`)).body.label.id);
    const item = `${team.path}/library/${(await upload(app, team.path, team.member.token)).body.item.id}`;

    const [deleted, ...others] = await Promise.all([
      app.http.delete(team.path, team.owner.token),
      app.http.post(`/api/workspaces/join/${token}`, guest.token),
      label('New'),
      app.http.patch(`${team.path}/labels/${labels[0]}`, team.admin.token, { name: 'Renamed' }),
      ...labels.map((labelId) => app.http.post(`${item}/labels`, team.member.token, { labelId })),
      app.http.delete(`${item}/labels/${labels[0]}`, team.member.token),
      app.http.delete(`${team.path}/labels/${labels[1]}`, team.admin.token),
      app.http.patch(item, team.member.token, { name: 'Renamed' }),
      app.http.delete(item, team.member.token),
      upload(app, team.path, team.member.token),
      app.http.patch(team.path, team.owner.token, { name: 'Renamed' }),
      app.http.post(`${team.path}/invite`, team.owner.token),
      app.http.get(`${team.path}/library`, team.member.token),
      app.http.patch(`${team.path}/members/${team.member.id}`, team.owner.token, { role: 'owner' }),
      app.http.delete(`${team.path}/members/${team.admin.id}`, team.owner.token),
    ]);

    // 403 if the owner has transferred it first. Then it is not deleted.
    expect([200, 403]).toContain(deleted.status);
    for (const { status, body } of others) expect([200, 403, 404], JSON.stringify(body)).toContain(status);
    const left = deleted.status === 200 ? 0 : 1;
    expect(await app.services.db.workspace.count({ where: { id: team.id } })).toBe(left);
    expect(await app.services.db.member.count({ where: { workspaceId: team.id, role: 'owner' } })).toBe(left);
  }
});
