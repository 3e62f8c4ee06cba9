/** Members of the workspace in the rooms of their team: they do not wait, and are shown as members. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { lock, lockedOut, remove, unlock } from '../moderation/moderate.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { addWaitingRoom, decide, join, leave, list, roomEvents, type TestRoom } from './rooms.ts';

let app: TestApp;
let team: Team;
let room: TestRoom;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
beforeEach(async () => {
  room = await addWaitingRoom(app, team, team.owner);
});
afterAll(() => app.close());

function removeMember() {
  return app.services.db.member.deleteMany({ where: { workspaceId: team.id, userId: team.member.id } });
}
function addMember() {
  const data = { workspaceId: team.id, userId: team.member.id, role: 'member', joinedAt: app.clock.now() };
  return app.services.db.member.create({ data });
}

test('a member does not wait, over both transports, and emits room.joined once', async () => {
  const { body } = await join(app, room.name, {}, team.member.token);
  expect(body.participant).toMatchObject({ status: 'joined', waiting_room_message: null });
  const again = await team.member.client.participants.join.mutate({ roomName: room.name });
  expect(again.participant).toMatchObject({ id: body.participant.id, status: 'joined' });
  expect(await roomEvents(app, team.id, room.id, 'room.joined')).toHaveLength(1);
});

test('hosts see who is a host and who is a member', async () => {
  await join(app, room.name, {}, team.member.token);
  await join(app, room.name, {}, team.admin.token);
  await join(app, room.name, {}, team.outsider.token);
  await join(app, room.name, { name: 'Gina', email: team.member.email });
  const { participants } = (await list(app, room.name, team.owner.token)).body;
  const shown = participants.map(({ name, is_host, is_member, status }: Record<string, unknown>) => [
    name,
    is_host,
    is_member,
    status,
  ]);
  expect(shown).toEqual([
    ['Gina', 0, 0, 'waiting'],
    ['Otto Outsider', 0, 0, 'waiting'],
    ['Adam Admin', 1, 1, 'joined'],
    ['Mia Member', 0, 1, 'joined'],
  ]);
  const typed = await team.owner.client.participants.list.query({ name: room.name });
  expect(typed.participants).toEqual(participants);
});

test('a member whom a host has removed waits, until a host admits them', async () => {
  const { participant } = (await join(app, room.name, {}, team.member.token)).body;
  await remove(app, room.name, participant.id, team.owner.token);
  const waiting = (await join(app, room.name, {}, team.member.token)).body.participant;
  expect(waiting.status).toBe('waiting');
  expect((await join(app, room.name, {}, team.member.token)).body.participant).toEqual(waiting);
  await decide(app, 'admit', room.name, waiting.id, team.owner.token);
  await leave(app, room.name, waiting.token);
  expect((await join(app, room.name, {}, team.member.token)).body.participant.status).toBe('joined');
});

test('a member does not enter a locked room, but comes back to one that was locked around them', async () => {
  await lock(app, room.name, team.owner.token);
  expect(await join(app, room.name, {}, team.member.token)).toMatchObject(lockedOut);
  await unlock(app, room.name, team.owner.token);
  const { token } = (await join(app, room.name, {}, team.member.token)).body.participant;
  await lock(app, room.name, team.owner.token);
  await leave(app, room.name, token);
  expect((await join(app, room.name, {}, team.member.token)).body.participant.status).toBe('joined');
});

test('a person who becomes a member while waiting enters when they join again, unless the room is locked', async () => {
  await removeMember();
  const waiting = (await join(app, room.name, {}, team.member.token)).body.participant;
  expect(waiting.status).toBe('waiting');
  await addMember();
  await lock(app, room.name, team.owner.token);
  expect((await join(app, room.name, {}, team.member.token)).body.participant).toMatchObject({ status: 'waiting' });
  await unlock(app, room.name, team.owner.token);
  const entered = (await join(app, room.name, {}, team.member.token)).body.participant;
  expect(entered).toMatchObject({ id: waiting.id, status: 'joined' });
});

test('a member of another workspace waits', async () => {
  const other = await addTeam(app);
  expect((await join(app, room.name, {}, other.owner.token)).body.participant.status).toBe('waiting');
});
