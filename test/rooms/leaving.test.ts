/** The rooms of a member who leaves a workspace are reassigned to its owner. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { concurrently } from '../support/concurrently.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Person, type Team } from '../support/world.ts';

const ROOMS = '/api/dashboard/rooms';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function newRoom(by: Person, workspace_id?: number): Promise<string> {
  return (await app.http.post(ROOMS, by.token, { workspace_id })).body.room.name;
}

async function ownerOf(name: string): Promise<number | undefined> {
  return (await app.services.db.room.findUnique({ where: { name } }))?.userId;
}

/** Counts the rooms whose user is not a member of their workspace. */
function strayRooms(): Promise<unknown[]> {
  return app.services.db.$queryRaw`
  select r.id from rooms r left join members m on m.workspace_id = r.workspace_id and m.user_id = r.user_id
  where m.user_id is null`;
}

function deleteAccount({ token }: Person) {
  return app.http.delete('/api/auth/me', token);
}

test.each<[string, (team: Team) => Promise<{ status: number }>]>([
  ['leaves', ({ path, admin }) => app.http.delete(`${path}/members/${admin.id}`, admin.token)],
  ['is removed', ({ path, admin, owner }) => app.http.delete(`${path}/members/${admin.id}`, owner.token)],
  ['deletes their account', ({ admin }) => deleteAccount(admin)],
])('the rooms of an admin who %s are reassigned to the owner', async (how, leave) => {
  const team = await addTeam(app);
  const other = await addTeam(app);
  const { token } = await other.owner.client.workspaces.invite.mutate({ id: other.id });
  await team.admin.client.workspaces.join.mutate({ token });
  await other.owner.client.members.changeRole.mutate({ id: other.id, userId: team.admin.id, role: 'admin' });
  const passed = [await newRoom(team.admin, team.id), await newRoom(team.admin, team.id)];
  const personal = await newRoom(team.admin);
  const elsewhere = await newRoom(team.admin, other.id);
  const mine = await newRoom(team.owner, team.id);

  expect((await leave(team)).status).toBe(200);
  for (const name of [...passed, mine]) expect(await ownerOf(name)).toBe(team.owner.id);
  const isGone = how === 'deletes their account';
  expect(await ownerOf(personal)).toBe(isGone ? undefined : team.admin.id);
  expect(await ownerOf(elsewhere)).toBe(isGone ? other.owner.id : team.admin.id);
  if (!isGone) expect((await app.http.get(`${ROOMS}/${passed[0]}`, team.admin.token)).status).toBe(404);
  expect((await app.http.get(`${ROOMS}/${passed[0]}`, team.owner.token)).status).toBe(200);
});

test('account deletion emits member.left once for each workspace', async () => {
  const team = await addTeam(app);
  await deleteAccount(team.admin);
  const events = await app.services.db.event.findMany({ where: { workspaceId: team.id, type: 'member.left' } });
  expect(events.map(({ data }) => data)).toMatchObject([{ user_id: team.admin.id, reason: 'account_deleted' }]);
});

test.each<[string, (team: Team) => Promise<{ status: number }>]>([
  ['leaving', ({ path, admin }) => app.http.delete(`${path}/members/${admin.id}`, admin.token)],
  ['deleting the account', ({ admin }) => deleteAccount(admin)],
])('%s while rooms are created: each room is passed on or refused', async (_, leave) => {
  const answers = await concurrently(8, async () => {
    const team = await addTeam(app);
    const [left, ...created] = await Promise.all([
      leave(team),
      ...Array.from({ length: 4 }, () => app.http.post(ROOMS, team.admin.token, { workspace_id: team.id })),
    ]);
    expect(left?.status).toBe(200);
    for (const { status, body } of created) {
      expect([201, 401, 403]).toContain(status);
      if (status === 201) expect(await ownerOf(body.room.name)).toBe(team.owner.id);
    }
    return created;
  });
  expect(answers).toHaveLength(8);
  expect(await strayRooms()).toEqual([]);
});

test('after a demotion no concurrent creation or update of a room succeeds', async () => {
  await concurrently(6, async () => {
    const team = await addTeam(app);
    const name = await newRoom(team.admin, team.id);
    const demote = team.owner.client.members.changeRole.mutate({ id: team.id, userId: team.admin.id, role: 'member' });
    const changes = await Promise.all([
      ...Array.from({ length: 3 }, () => app.http.patch(`${ROOMS}/${name}`, team.admin.token, { display_name: 'X' })),
      app.http.post(ROOMS, team.admin.token, { workspace_id: team.id }),
    ]);
    for (const { status } of changes) expect([200, 201, 403]).toContain(status);
    await demote;
    expect((await app.http.delete(`${ROOMS}/${name}`, team.admin.token)).status).toBe(403);
  });
});

test('concurrent account deletions and removals do not deadlock or fail', async () => {
  await concurrently(6, async () => {
    const [one, two] = [await addTeam(app), await addTeam(app)];
    for (const [from, to] of [
      [one, two],
      [two, one],
    ] as const) {
      const { token } = await to.owner.client.workspaces.invite.mutate({ id: to.id });
      await from.admin.client.workspaces.join.mutate({ token });
      await newRoom(from.admin, from.id);
    }
    const answers = await Promise.all([
      deleteAccount(one.admin),
      deleteAccount(two.admin),
      app.http.delete(`${one.path}/members/${two.admin.id}`, one.owner.token),
      app.http.delete(`${two.path}/members/${one.admin.id}`, two.owner.token),
    ]);
    expect(answers.slice(0, 2).map(({ status }) => status)).toEqual([200, 200]);
    for (const { status } of answers.slice(2)) expect([200, 404]).toContain(status);
  });
  expect(await strayRooms()).toEqual([]);
});
