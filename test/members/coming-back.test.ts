/** What a removed member, and an ended session, may no longer use: the invite link and API keys. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, PASSWORD, type Person } from '../support/world.ts';

const NEW_PASSWORD = 'another password';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function join(person: Person, token: string) {
  return app.http.post(`/api/workspaces/join/${token}`, person.token);
}

test('a removed member cannot join again with the same link, and the next link is another one', async () => {
  const { id, path, owner, admin, member } = await addTeam(app);
  const { token } = await owner.client.workspaces.invite.mutate({ id });
  expect((await app.http.delete(`${path}/members/${member.id}`, admin.token)).status).toBe(200);
  expect(await join(member, token)).toMatchObject({ status: 404, body: { message: 'Invite not found' } });
  const next = await owner.client.workspaces.invite.mutate({ id });
  expect(next.token).not.toBe(token);
  expect((await join(member, next.token)).status).toBe(200);
});

test('the link stays the same when members leave, delete their account, or are not removed after all', async () => {
  const { id, path, owner, admin, member, outsider } = await addTeam(app);
  const { token } = await owner.client.workspaces.invite.mutate({ id });
  expect((await app.http.delete(`${path}/members/${admin.id}`, member.token)).status).toBe(403);
  expect((await app.http.delete(`${path}/members/${outsider.id}`, owner.token)).status).toBe(404);
  expect((await app.http.delete(`${path}/members/${member.id}`, member.token)).status).toBe(200);
  expect((await app.http.delete('/api/auth/me', admin.token)).status).toBe(200);
  expect((await owner.client.workspaces.invite.mutate({ id })).token).toBe(token);
  expect((await join(member, token)).status).toBe(200);
});

test('a member who joins again while being removed is out in the end', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { id, path, owner, member } = await addTeam(app);
    const { token } = await owner.client.workspaces.invite.mutate({ id });
    const [removed, ...joined] = await Promise.all([
      app.http.delete(`${path}/members/${member.id}`, owner.token),
      ...Array.from({ length: 4 }, () => join(member, token)),
    ]);
    expect(removed.status).toBe(200);
    for (const { status } of joined) expect([200, 404]).toContain(status);
    expect((await app.http.get(path, member.token)).status).toBe(403);
  }
});

test('an admin who is removed while asking for the link does not get the one that replaces it', async () => {
  const { id, path, owner, admin } = await addTeam(app);
  await owner.client.workspaces.revokeInvite.mutate({ id });
  // Both wait for the workspace: the admin to create a token, after their role was checked for the first time.
  const answer = await changeWhileBlocked(
    app,
    `select from workspaces where id = ${id} for update`,
    () => app.http.post(`${path}/invite`, admin.token),
    (client) => client.query('delete from members where workspace_id = $1 and user_id = $2', [id, admin.id]),
  );
  expect(answer.status).toBe(403);
  expect((await app.services.db.workspace.findUniqueOrThrow({ where: { id } })).inviteToken).toBeNull();
});

test('a session that a change of the password ends creates no key afterwards', async () => {
  const { id, path, owner } = await addTeam(app);
  const login = await app.http.post('/api/auth/login', undefined, { email: owner.email, password: PASSWORD });
  // The creation waits for the workspace, after its session was found valid.
  const answer = await changeWhileBlocked(
    app,
    `select from workspaces where id = ${id} for update`,
    () => app.http.post(`${path}/api-keys`, login.body.token, { name: 'Way back' }),
    () => changePassword(owner, { end_api_keys: true }),
  );
  expect(answer.status).toBe(401);
  expect(await app.services.db.apiKey.count({ where: { workspaceId: id } })).toBe(0);
});

async function changePassword({ token }: Person, more: object): Promise<void> {
  const json = { password: NEW_PASSWORD, current_password: PASSWORD, ...more };
  expect((await app.http.patch('/api/auth/me', token, json)).status).toBe(200);
}

test('no key of the user works after a change of the password that ends keys, whatever happens meanwhile', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { id, path, owner, admin } = await addTeam(app);
    const { apiKey } = await owner.client.apiKeys.create.mutate({ id, name: 'Old' });
    const other = await app.http.post('/api/auth/login', undefined, { email: owner.email, password: PASSWORD });
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => app.http.post(`${path}/api-keys`, other.body.token, { name: 'New' })),
      changePassword(owner, { end_api_keys: true }),
      ...Array.from({ length: 4 }, () => app.http.patch(`${path}/api-keys/${apiKey.id}`, admin.token)),
      ...Array.from({ length: 4 }, () => app.http.post(`${path}/api-keys`, other.body.token, { name: 'New' })),
    ]);
    for (const answer of answers) if (answer) expect([200, 401, 409]).toContain(answer.status);
    const active = await app.services.db.apiKey.count({ where: { createdBy: owner.id, isActive: true } });
    expect(active).toBe(0);
  }
});

test('without end_api_keys the keys of the user stay, and those of others always do', async () => {
  const { id, owner, admin } = await addTeam(app);
  const { apiKey: own } = await owner.client.apiKeys.create.mutate({ id, name: 'Own' });
  const { apiKey: foreign } = await admin.client.apiKeys.create.mutate({ id, name: 'Foreign' });
  const work = async () => {
    const answers = [own, foreign].map(({ full_key }) => app.http.get(`/api/workspaces/${id}/labels`, full_key));
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  await changePassword(owner, {});
  expect(await work()).toEqual([200, 200]);
  const json = { password: PASSWORD, current_password: NEW_PASSWORD, end_api_keys: true };
  expect((await app.http.patch('/api/auth/me', owner.token, json)).status).toBe(200);
  expect(await work()).toEqual([401, 200]);
});

test('the database refuses a revoked key that is active', async () => {
  const { id, owner } = await addTeam(app);
  const { apiKey } = await owner.client.apiKeys.create.mutate({ id, name: 'Own' });
  const revoke = app.services.db.apiKey.updateMany({ where: { id: apiKey.id }, data: { revokedAt: new Date() } });
  await expect(revoke).rejects.toThrow(/api_keys_revoked_inactive/);
});

test('a deleted account leaves no key and no session behind', async () => {
  const { id, owner } = await addTeam(app);
  const person = await addPerson(app);
  await join(person, (await owner.client.workspaces.invite.mutate({ id })).token);
  await owner.client.members.changeRole.mutate({ id, userId: person.id, role: 'admin' });
  const { apiKey } = await person.client.apiKeys.create.mutate({ id, name: 'Own' });
  expect((await app.http.delete('/api/auth/me', person.token)).status).toBe(200);
  expect((await app.http.get(`/api/workspaces/${id}/labels`, apiKey.full_key)).status).toBe(401);
  expect(await app.services.db.apiKey.count({ where: { createdBy: person.id } })).toBe(0);
  expect(await app.services.db.session.count({ where: { userId: person.id } })).toBe(0);
});
