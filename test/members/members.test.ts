/** Roles, removing and leaving: who may do what, and that a workspace always has exactly one owner. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dumpTables } from '../support/dump.ts';
import { eventsOf } from '../support/events.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Person, type Team } from '../support/world.ts';

type Who = 'owner' | 'admin' | 'admin2' | 'member' | 'member2';

let app: TestApp;
let team: Team;
let people: Record<Who, Person>;
beforeAll(async () => {
  app = await startTestApp();
  const base = await addTeam(app);
  team = base;
  people = { ...base, admin2: await addPerson(app, 'Second Admin'), member2: await addPerson(app, 'Second Member') };
});
afterAll(() => app.close());

/** A new workspace with the same people: two admins and two members. */
beforeEach(async () => {
  const { workspace } = await people.owner.client.workspaces.create.mutate({ name: 'Team' });
  team = { ...team, id: workspace.id, path: `/api/workspaces/${workspace.id}` };
  const { token } = await people.owner.client.workspaces.invite.mutate({ id: team.id });
  for (const who of ['admin', 'admin2', 'member', 'member2'] as const)
    await people[who].client.workspaces.join.mutate({ token });
  for (const who of ['admin', 'admin2'] as const)
    await people.owner.client.members.changeRole.mutate({ id: team.id, userId: people[who].id, role: 'admin' });
});

async function readRoles(): Promise<Record<string, string>> {
  const members = await app.services.db.member.findMany({ where: { workspaceId: team.id } });
  return Object.fromEntries(
    members.map(({ userId, role }) => [Object.entries(people).find(([, { id }]) => id === userId)?.[0], role]),
  );
}

const INITIAL_ROLES = { owner: 'owner', admin: 'admin', admin2: 'admin', member: 'member', member2: 'member' };

function changeRole(by: Who, target: Who, role: string) {
  return app.http.patch(`${team.path}/members/${people[target].id}`, people[by].token, { role });
}

function remove(by: Who, target: Who) {
  return app.http.delete(`${team.path}/members/${people[target].id}`, people[by].token);
}

describe('changing a role', () => {
  test.each([
    ['owner', 'member', 'admin'],
    ['owner', 'admin', 'member'],
    ['owner', 'member', 'member'],
    ['owner', 'owner', 'owner'],
    ['admin', 'member', 'admin'],
    ['admin', 'member', 'member'],
  ] as const)('%s makes %s %s', async (by, target, role) => {
    const { status, body } = await changeRole(by, target, role);
    expect(status).toBe(200);
    expect(body.member).toMatchObject({ id: people[target].id, name: people[target].name, role });
    expect(await readRoles()).toEqual({ ...INITIAL_ROLES, [target]: role });
  });

  test.each([
    ['admin', 'admin2', 'member'],
    ['admin', 'admin2', 'admin'],
    ['admin', 'admin', 'member'],
    ['admin', 'admin', 'owner'],
    ['admin', 'member', 'owner'],
    ['admin', 'owner', 'member'],
    ['admin', 'owner', 'owner'],
    ['member', 'member', 'admin'],
    ['member', 'member2', 'admin'],
    ['member', 'owner', 'member'],
  ] as const)('%s may not make %s %s: 403, and nothing changes', async (by, target, role) => {
    const before = await dumpTables(app);
    expect(await changeRole(by, target, role)).toMatchObject({ status: 403, body: { message: 'Forbidden' } });
    expect(await dumpTables(app)).toEqual(before);
  });

  test.each(['admin', 'member'] as const)('the owner cannot give up the role for %s: 400', async (role) => {
    const before = await dumpTables(app);
    expect(await changeRole('owner', 'owner', role)).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
    expect(await dumpTables(app)).toEqual(before);
  });

  test('to owner transfers the workspace: the old owner becomes an admin, and owner_id changes', async () => {
    expect((await changeRole('owner', 'member', 'owner')).body.member.role).toBe('owner');
    expect(await readRoles()).toEqual({ ...INITIAL_ROLES, owner: 'admin', member: 'owner' });
    const { body } = await app.http.get(team.path, people.owner.token);
    expect(body.workspace).toMatchObject({ owner_id: people.member.id, role: 'admin' });
    expect((await app.http.delete(team.path, people.owner.token)).status).toBe(403);
    expect((await changeRole('owner', 'member', 'admin')).status).toBe(403);
    expect((await app.http.delete(team.path, people.member.token)).status).toBe(200);
  });

  test('to owner is rejected for Personal: 400', async () => {
    const { body } = await app.http.get('/api/workspaces', people.owner.token);
    const personal = `/api/workspaces/${body.workspaces[0].id}`;
    const { body: invite } = await app.http.post(`${personal}/invite`, people.owner.token);
    await app.http.post(`/api/workspaces/join/${invite.token}`, people.member.token);
    const before = await dumpTables(app);
    const member = `${personal}/members/${people.member.id}`;
    expect(await app.http.patch(member, people.owner.token, { role: 'owner' })).toMatchObject({
      status: 400,
      body: { message: 'The Personal workspace cannot be transferred' },
    });
    expect(await dumpTables(app)).toEqual(before);
    expect((await app.http.patch(member, people.owner.token, { role: 'admin' })).status).toBe(200);
  });

  test('emits no event, and ignores other fields of the body', async () => {
    const before = await eventsOf(app, team.id);
    const { body } = await app.http.patch(`${team.path}/members/${people.member.id}`, people.owner.token, {
      role: 'admin',
      userId: people.admin.id,
      id: 1,
      name: 'Sneaky',
      joined_at: 0,
    });
    expect(body.member).toMatchObject({ id: people.member.id, name: people.member.name, role: 'admin' });
    expect(body.member.joined_at).toBeGreaterThan(0);
    expect(await eventsOf(app, team.id)).toEqual(before);
  });
});

describe('removing and leaving', () => {
  test.each([
    ['owner', 'admin', 'removed'],
    ['owner', 'member', 'removed'],
    ['admin', 'member', 'removed'],
    ['admin', 'admin', 'left'],
    ['member', 'member', 'left'],
  ] as const)('%s removes %s, who has %s', async (by, target, reason) => {
    expect(await remove(by, target)).toMatchObject({ status: 200, body: { ok: true } });
    const { [target]: _, ...others } = INITIAL_ROLES;
    expect(await readRoles()).toEqual(others);
    expect(await eventsOf(app, team.id, 'member.left')).toEqual([
      {
        type: 'member.left',
        data: {
          workspace_id: team.id,
          workspace_name: 'Team',
          user_id: people[target].id,
          user_name: people[target].name,
          reason,
        },
      },
    ]);
    expect((await app.http.get(team.path, people[target].token)).status).toBe(403);
    expect(await remove('owner', target)).toMatchObject({ status: 404, body: { message: 'Member not found' } });
  });

  test.each([
    ['admin', 'admin2'],
    ['admin', 'owner'],
    ['member', 'member2'],
    ['member', 'admin'],
    ['member', 'owner'],
  ] as const)('%s may not remove %s: 403, and nothing changes', async (by, target) => {
    const before = await dumpTables(app);
    expect(await remove(by, target)).toMatchObject({ status: 403, body: { message: 'Forbidden' } });
    expect(await dumpTables(app)).toEqual(before);
  });

  test('the owner cannot leave: 400', async () => {
    const before = await dumpTables(app);
    expect(await remove('owner', 'owner')).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
    expect(await dumpTables(app)).toEqual(before);
  });

  test('a member who has left may join again, as a member', async () => {
    await remove('admin', 'admin');
    const { token } = await people.owner.client.workspaces.invite.mutate({ id: team.id });
    await app.http.post(`/api/workspaces/join/${token}`, people.admin.token);
    expect(await readRoles()).toEqual({ ...INITIAL_ROLES, admin: 'member' });
  });

  test('what a removed member created stays, with their name', async () => {
    const { body } = await app.http.post(`${team.path}/labels`, people.admin.token, { name: 'Mine' });
    await remove('owner', 'admin');
    const { body: list } = await app.http.get(`${team.path}/labels`, people.owner.token);
    expect(list.labels).toMatchObject([{ id: body.label.id, created_by_name: people.admin.name }]);
  });
});
