/** What a member creates in one statement, while they are demoted or removed or the workspace is deleted. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const kinds = [
  {
    kind: 'rooms',
    created: 201,
    create: ({ id, admin }: Team) => app.http.post('/api/dashboard/rooms', admin.token, { workspace_id: id }),
    count: ({ id }: Team) => app.services.db.room.count({ where: { workspaceId: id } }),
  },
  {
    kind: 'contacts',
    created: 200,
    create: ({ path, admin }: Team) =>
      app.http.post(`${path}/contacts`, admin.token, { name: 'Kim', email: 'kim@example.com' }),
    count: ({ id }: Team) => app.services.db.contact.count({ where: { workspaceId: id } }),
  },
];

describe.each(kinds)('$kind', ({ created, create, count }) => {
  /** Creates one while `change` is not committed yet. */
  async function createDuring(team: Team, change: string, end = 'commit') {
    const { status, body } = await changeWhileBlocked(
      app,
      change,
      () => create(team),
      (client) => client.query(end),
    );
    return [status, body.message];
  }

  const adminOf = ({ id, admin }: Team) => `workspace_id = ${id} and user_id = ${admin.id}`;
  const demotion = (team: Team) => `update members set role = 'member' where ${adminOf(team)}`;

  test('a creator who is demoted meanwhile is refused', async () => {
    const team = await addTeam(app);
    expect(await createDuring(team, demotion(team))).toEqual([403, 'Forbidden']);
    expect(await count(team)).toBe(0);
  });

  test('a creator who is removed meanwhile is refused', async () => {
    const team = await addTeam(app);
    expect(await createDuring(team, `delete from members where ${adminOf(team)}`)).toEqual([403, 'Forbidden']);
    expect(await count(team)).toBe(0);
  });

  test('a demotion that is rolled back has no effect', async () => {
    const team = await addTeam(app);
    expect(await createDuring(team, demotion(team), 'rollback')).toEqual([created, undefined]);
    expect(await count(team)).toBe(1);
  });

  test('a workspace that is deleted meanwhile is not found', async () => {
    const team = await addTeam(app);
    const deletion = `delete from workspaces where id = ${team.id}`;
    expect(await createDuring(team, deletion)).toEqual([404, 'Workspace not found']);
  });
});
