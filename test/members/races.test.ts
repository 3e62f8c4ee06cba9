/** Concurrent changes of members: there is always exactly one owner, and owner_id is that user. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { concurrently } from '../support/concurrently.ts';
import type { Answer } from '../support/http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Person, type Team } from '../support/world.ts';

const ROUNDS = 20;

let app: TestApp;
let base: Team;
beforeAll(async () => {
  app = await startTestApp();
  base = await addTeam(app);
});
afterAll(() => app.close());

/** A new workspace with the same people, or with some of them replaced. */
async function newTeam(others: Partial<Pick<Team, 'owner' | 'admin' | 'member'>> = {}): Promise<Team> {
  const { owner, admin, member } = { ...base, ...others };
  const { workspace } = await owner.client.workspaces.create.mutate({ name: 'Team' });
  const { token } = await owner.client.workspaces.invite.mutate({ id: workspace.id });
  for (const { client } of [admin, member]) await client.workspaces.join.mutate({ token });
  await owner.client.members.changeRole.mutate({ id: workspace.id, userId: admin.id, role: 'admin' });
  return { ...base, owner, admin, member, id: workspace.id, path: `/api/workspaces/${workspace.id}` };
}

function changeRole(team: Team, by: Person, target: Person, role: string): Promise<Answer> {
  return app.http.patch(`${team.path}/members/${target.id}`, by.token, { role });
}

function remove(team: Team, by: Person, target: Person): Promise<Answer> {
  return app.http.delete(`${team.path}/members/${target.id}`, by.token);
}

async function expectOneOwner({ id }: Team): Promise<void> {
  const owners = await app.services.db.member.findMany({ where: { workspaceId: id, role: 'owner' } });
  const workspace = await app.services.db.workspace.findUniqueOrThrow({ where: { id } });
  expect(owners.map(({ userId }) => userId)).toEqual([workspace.ownerId]);
}

function expectNoFault(answers: readonly Answer[]): void {
  const faults = app.logLines.filter(({ level }) => Number(level) >= 50);
  expect(faults, 'the log has no error').toEqual([]);
  for (const { status, body } of answers) expect(status, JSON.stringify(body)).toBeLessThan(500);
}

test('of two concurrent transfers to different members one succeeds', async () => {
  await concurrently(ROUNDS, async () => {
    const team = await newTeam();
    const answers = await Promise.all([
      changeRole(team, team.owner, team.admin, 'owner'),
      changeRole(team, team.owner, team.member, 'owner'),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
    await expectOneOwner(team);
  });
});

test('a member who leaves during a transfer to them either is the owner or has left', async () => {
  await concurrently(ROUNDS, async () => {
    const team = await newTeam();
    const [transferred, left] = await Promise.all([
      changeRole(team, team.owner, team.member, 'owner'),
      remove(team, team.member, team.member),
    ]);
    expect([
      [200, 400],
      [404, 200],
    ]).toContainEqual([transferred.status, left.status]);
    await expectOneOwner(team);
  });
});

test('concurrent transfers, demotions and removals leave exactly one owner', async () => {
  await concurrently(ROUNDS, async () => {
    const team = await newTeam();
    const { owner, admin, member } = team;
    const answers = await Promise.all([
      changeRole(team, owner, admin, 'owner'),
      changeRole(team, owner, member, 'owner'),
      changeRole(team, admin, owner, 'member'),
      changeRole(team, admin, member, 'admin'),
      changeRole(team, owner, admin, 'member'),
      remove(team, owner, admin),
      remove(team, admin, member),
      remove(team, owner, owner),
      remove(team, member, member),
    ]);
    expectNoFault(answers);
    await expectOneOwner(team);
  });
});

test('after a transfer during a deletion the workspace has one owner or does not exist', async () => {
  await concurrently(ROUNDS, async () => {
    const team = await newTeam();
    const [transferred, deleted] = await Promise.all([
      changeRole(team, team.owner, team.admin, 'owner'),
      app.http.delete(team.path, team.owner.token),
    ]);
    expectNoFault([transferred, deleted]);
    const remaining = await app.services.db.workspace.count({ where: { id: team.id } });
    expect([0, 1]).toContain(remaining);
    if (remaining === 1) await expectOneOwner(team);
    else expect(deleted.status).toBe(200);
  });
});

test('deleting an account works during transfers to the user, demotions and removals', async () => {
  await concurrently(ROUNDS, async (index) => {
    const leaver = await addPerson(app, 'Leaver');
    const team = await newTeam({ admin: leaver });
    const [deleted, ...others] = await Promise.all([
      app.http.delete('/api/auth/me', leaver.token),
      index % 2 === 0 ? changeRole(team, team.owner, leaver, 'owner') : changeRole(team, team.owner, leaver, 'member'),
      index % 3 === 0 ? remove(team, team.owner, leaver) : changeRole(team, leaver, team.member, 'admin'),
    ]);
    expectNoFault([deleted, ...others]);
    expect([200, 409]).toContain(deleted.status);
    await expectOneOwner(team);
    const remaining = await app.services.db.user.count({ where: { id: leaver.id } });
    expect(remaining).toBe(deleted.status === 200 ? 0 : 1);
  });
});

test('deleting an account works during all other operations of the user', async () => {
  await concurrently(ROUNDS, async () => {
    const leaver = await addPerson(app, 'Leaver');
    const team = await newTeam({ admin: leaver });
    const { token } = leaver;
    const { token: invite } = await base.owner.client.workspaces.invite.mutate({ id: team.id });
    const [deleted, ...others] = await Promise.all([
      app.http.delete('/api/auth/me', token),
      app.http.post('/api/workspaces', token, { name: 'New' }),
      app.http.post(`${team.path}/labels`, token, { name: 'New' }),
      app.http.post(`/api/workspaces/join/${invite}`, token),
      app.http.patch('/api/auth/me', token, { name: 'Renamed' }),
      app.http.patch('/api/auth/me', token, {
        password: 'another password',
        current_password: 'correct horse battery staple',
      }),
      app.http.post('/api/auth/login', undefined, {
        email: leaver.email,
        password: 'correct horse battery staple',
      }),
      app.http.get('/api/auth/me', token),
      app.http.post('/api/auth/logout', token),
    ]);
    expectNoFault([deleted, ...others]);
    await expectOneOwner(team);
  });
});
