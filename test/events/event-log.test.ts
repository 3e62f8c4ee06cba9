/** The event log: an event is committed with its cause, and matches its schema. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transact } from '../../src/db/client.ts';
import { sqlIn } from '../../src/db/sql.ts';
import type { NewEvent } from '../../src/events/catalogue.ts';
import { webhookEvents } from '../../src/events/declarations.ts';
import { emit } from '../../src/events/emit.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

function memberLeft(userName: unknown): NewEvent {
  return {
    type: 'member.left',
    workspaceId: team.id,
    data: { workspace_id: team.id, workspace_name: 'Team', user_id: 1, user_name: userName, reason: 'left' },
  } as NewEvent;
}

function countMemberLeft(): Promise<number> {
  return app.services.db.event.count({ where: { workspaceId: team.id, type: 'member.left' } });
}

test('a transaction that rolls back leaves no event', async () => {
  const before = await countMemberLeft();
  const failed = transact(app.services.db, async (tx) => {
    await emit(sqlIn(tx), new Date(), memberLeft('Ada'));
    throw new Error('after the event');
  });
  await expect(failed).rejects.toThrow('after the event');
  expect(await countMemberLeft()).toBe(before);
});

test('an event that does not match its schema rolls its transaction back', async () => {
  const before = await countMemberLeft();
  await expect(transact(app.services.db, (tx) => emit(sqlIn(tx), new Date(), memberLeft(5)))).rejects.toThrow(
    'user_name',
  );
  expect(await countMemberLeft()).toBe(before);
});

test('every operation that causes an event adds exactly one, which matches its schema', async () => {
  const { owner, member, path, id } = team;
  const since = (await app.services.db.event.findMany({ where: { workspaceId: id } })).length;
  const uploaded = await upload(app, path, member.token);
  await app.http.delete(`${path}/library/${uploaded.body.item.id}`, member.token);
  await app.http.post('/api/dashboard/rooms', owner.token, { name: 'event-log-room', workspace_id: id });
  await app.http.delete(`${path}/members/${member.id}`, member.token);
  const { token } = await owner.client.workspaces.invite.mutate({ id });
  await member.client.workspaces.join.mutate({ token });
  const events = await app.services.db.event.findMany({ where: { workspaceId: id }, orderBy: { id: 'asc' } });
  const added = events.slice(since);
  expect(added.map(({ type }) => type)).toEqual([
    'library_item.uploaded',
    'library_item.deleted',
    'room.created',
    'member.left',
    'member.joined',
  ]);
  for (const { type, data } of added) {
    expect(webhookEvents[type as keyof typeof webhookEvents].data.parse(data)).toEqual(data);
  }
});
