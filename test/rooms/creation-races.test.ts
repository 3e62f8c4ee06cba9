/** A room is created in one statement. What it decides is still true when it commits. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { webhookEvents } from '../../src/events/declarations.ts';
import { waitForLockWait } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const ROOMS = '/api/dashboard/rooms';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function create(team: Team, settings: object = {}) {
  return app.http.post(ROOMS, team.admin.token, { workspace_id: team.id, ...settings });
}

function memberOf({ id, admin }: Team): string {
  return `workspace_id = ${id} and user_id = ${admin.id}`;
}

test('a removal that comes after the creation waits for it, and passes the room on', async () => {
  const team = await addTeam(app);
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  try {
    // The creation waits for the name, after it has checked the role.
    await client.query('begin');
    await client.query(
      `insert into rooms (workspace_id, name, user_id, accent_color, created_at, last_used_at)
       values ($1, 'contested', $2, '#000', now(), now())`,
      [team.id, team.owner.id],
    );
    const creation = create(team, { name: 'contested' });
    await waitForLockWait(app);
    const removed = app.http.delete(`${team.path}/members/${team.admin.id}`, team.owner.token);
    await waitForLockWait(app, 2);
    await client.query('rollback');
    expect((await creation).status).toBe(201);
    expect((await removed).status).toBe(200);
    const room = await app.services.db.room.findUniqueOrThrow({ where: { name: 'contested' } });
    expect(room.userId).toBe(team.owner.id);
  } finally {
    await client.end();
  }
});

test('creations of one workspace do not wait for each other', async () => {
  const team = await addTeam(app);
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    // The locks of a creation, and its room.
    await client.query('select from workspaces where id = $1 for key share', [team.id]);
    await client.query(`select from members where ${memberOf(team)} for share`);
    await client.query(
      `insert into rooms (workspace_id, name, user_id, accent_color, created_at, last_used_at)
       values ($1, 'slow-commit', $2, '#000', now(), now())`,
      [team.id, team.admin.id],
    );
    expect((await create(team)).status).toBe(201);
  } finally {
    await client.end();
  }
});

test('the event has the data of the catalogue, and the answer is what reading the room returns', async () => {
  const team = await addTeam(app);
  const settings = { display_name: 'Weekly', scheduled_at: 1767225600.125, waiting_room_enabled: 1, session_id: 's' };
  for (const sent of [{}, settings]) {
    const { room } = (await create(team, sent)).body;
    const { body } = await app.http.get(`${ROOMS}/${room.name}`, team.admin.token);
    expect(body.room).toEqual(room);
    const { data } = await app.services.db.event.findFirstOrThrow({
      where: { type: 'room.created', workspaceId: team.id },
      orderBy: { id: 'desc' },
    });
    expect(data).toEqual(webhookEvents['room.created'].data.strict().parse(data));
    expect(data).toEqual({
      workspace_id: team.id,
      room_id: room.id,
      room_name: room.name,
      display_name: room.display_name,
      created_by: team.admin.name,
      created_by_id: team.admin.id,
      scheduled_at: room.scheduled_at,
      created_at: room.created_at,
    });
  }
});
