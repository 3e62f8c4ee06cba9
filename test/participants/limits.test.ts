/** How many people a room holds (`max_participants`), and rooms only for members (`members_only`). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { addGuest, addRoom, decide, join, leave, list, presence, type TestRoom } from './rooms.ts';

const full = (max: number) => ({
  status: 409,
  body: { code: 'ROOM_FULL', error: `The room is full: at most ${max} people can be in it` },
});
const onlyMembers = {
  status: 403,
  body: { code: 'MEMBERS_ONLY', error: 'Only members of the workspace can join this room' },
};

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

function change(room: TestRoom, settings: object) {
  return app.http.patch(`/api/dashboard/rooms/${room.name}`, team.owner.token, settings);
}
async function countJoined({ id }: TestRoom): Promise<number> {
  return app.services.db.participant.count({ where: { roomId: id, status: 'joined' } });
}

test('exactly as many enter as the room holds when 30 join at the same time', async () => {
  const room = await addRoom(app, team, team.owner, { max_participants: 7 });
  const guests = await concurrently(30, (index) => join(app, room.name, { name: `Guest ${index}` }));
  expect(countStatuses(guests)).toEqual({ 200: 7, 409: 23 });
  expect(guests.find(({ status }) => status === 409)).toMatchObject(full(7));
  expect(await countJoined(room)).toBe(7);
});

test('exactly as many enter when guests, users, admissions and people who leave race, and hosts always', async () => {
  const room = await addRoom(app, team, team.owner, { max_participants: 5, waiting_room_enabled: 1 });
  const waiting = await concurrently(12, (index) => addGuest(app, room.name, { name: `Guest ${index}` }));
  const first = (await join(app, room.name, {}, team.member.token)).body.participant;
  const decisions = waiting.map(({ id }) => decide(app, 'admit', room.name, id, team.owner.token));
  const hosts = [team.admin, team.owner].map(({ token }) => join(app, room.name, {}, token));
  const leaving = leave(app, room.name, first.token);
  for (const answer of await Promise.all(decisions)) expect([200, 409]).toContain(answer.status);
  for (const answer of await Promise.all([...hosts, leaving])) expect(answer.status).toBe(200);
  const others = await app.services.db.participant.count({
    where: { roomId: room.id, status: 'joined', userId: null },
  });
  expect(others).toBeLessThanOrEqual(5);
  expect(await countJoined(room)).toBe(others + 2);
  // Those who are left fill the room.
  for (const { id } of waiting) await decide(app, 'admit', room.name, id, team.owner.token);
  expect(await countJoined(room)).toBe(Math.max(others + 2, 5));
});

test('a room that becomes limited while people join holds no more than its limit afterwards', async () => {
  const room = await addRoom(app, team, team.owner);
  const joins = concurrently(20, (index) => join(app, room.name, { name: `Guest ${index}` }));
  expect((await change(room, { max_participants: 1 })).status).toBe(200);
  const inside = await countJoined(room);
  await joins;
  expect(await countJoined(room)).toBe(Math.max(inside, 1));
});

test('a full room: everybody new but hosts gets 409; who is inside stays the same participant', async () => {
  const room = await addRoom(app, team, team.owner, { max_participants: 2 });
  const guest = await addGuest(app, room.name);
  await join(app, room.name, {}, team.member.token);
  for (const token of [undefined, team.outsider.token])
    expect(await join(app, room.name, { name: 'X' }, token)).toMatchObject(full(2));
  const again = await join(app, room.name, { name: 'Gina', token: guest.token });
  expect(again.body.participant).toMatchObject({ id: guest.id, status: 'joined' });
  await leave(app, room.name, guest.token);
  expect((await join(app, room.name, {}, team.outsider.token)).body.participant.status).toBe('joined');
});

test('hosts enter their full room, act in it, and count; the public fields say who may enter', async () => {
  const room = await addRoom(app, team, team.admin, { max_participants: 1 });
  const guest = await addGuest(app, room.name);
  const isFull = async (token?: string) => (await app.http.get(`/api/rooms/${room.name}`, token)).body.room.full;
  for (const { token } of [team.admin, team.owner]) {
    expect(await isFull(token)).toBe(0);
    expect((await join(app, room.name, {}, token)).body.participant).toMatchObject({ status: 'joined', is_host: 1 });
  }
  const path = `/api/dashboard/rooms/${room.name}/participants/${guest.id}/remove`;
  expect((await app.http.post(path, team.admin.token)).status).toBe(200);
  expect(await countJoined(room)).toBe(2);
  for (const token of [undefined, team.member.token]) {
    expect(await isFull(token)).toBe(1);
    expect(await join(app, room.name, { name: 'X' }, token)).toMatchObject(full(1));
  }
});

test('who became a host while they waited enters a full room', async () => {
  const room = await addRoom(app, team, team.owner, { max_participants: 1, waiting_room_enabled: 1 });
  await join(app, room.name, {}, team.owner.token);
  const waiting = (await join(app, room.name, {}, team.outsider.token)).body.participant;
  expect(waiting.status).toBe('waiting');
  const where = { workspaceId: team.id, userId: team.outsider.id };
  await app.services.db.member.create({ data: { ...where, role: 'admin', joinedAt: app.clock.now() } });
  expect((await decide(app, 'admit', room.name, waiting.id, team.owner.token)).status).toBe(200);
  await leave(app, room.name, waiting.token);
  await app.services.db.member.deleteMany({ where });
});

test('a call that found the room full can be repeated with the same idempotency key', async () => {
  const room = await addRoom(app, team, team.owner, { max_participants: 1 });
  const guest = await addGuest(app, room.name);
  const attempt = () =>
    app.http.call('POST', `/api/rooms/${room.name}/join`, {
      token: team.member.token,
      json: {},
      headers: { 'idempotency-key': 'join-full-room' },
    });
  expect((await attempt()).status).toBe(409);
  await leave(app, room.name, guest.token);
  expect((await attempt()).status).toBe(200);
});

test('people wait in front of a full room, and are admitted once there is a place', async () => {
  const room = await addRoom(app, team, team.owner, { max_participants: 1, waiting_room_enabled: 1 });
  const host = (await join(app, room.name, {}, team.owner.token)).body.participant;
  const guest = await addGuest(app, room.name);
  expect(await decide(app, 'admit', room.name, guest.id, team.owner.token)).toMatchObject(full(1));
  expect((await presence(app, room.name, guest.token)).body.participant.status).toBe('waiting');
  await leave(app, room.name, host.token);
  expect((await decide(app, 'admit', room.name, guest.id, team.owner.token)).status).toBe(200);
  // Admitting a participant who is inside changes nothing, however full the room is.
  expect((await decide(app, 'admit', room.name, guest.id, team.owner.token)).status).toBe(200);
});

test('switching the waiting room off admits those who came first, as long as there are places', async () => {
  const room = await addRoom(app, team, team.owner, { max_participants: 2, waiting_room_enabled: 1 });
  const guests = [];
  for (const name of ['First', 'Second', 'Third']) guests.push(await addGuest(app, room.name, { name }));
  await change(room, { waiting_room_enabled: 0 });
  const states = await Promise.all(guests.map(({ token }) => presence(app, room.name, token)));
  expect(states.map(({ body }) => body.participant.status)).toEqual(['joined', 'joined', 'waiting']);
  const [, , third] = guests;
  const asked = await join(app, room.name, { name: 'Third', token: third?.token });
  expect(asked.body.participant).toMatchObject({ id: third?.id, status: 'waiting' });
  await leave(app, room.name, guests[0]?.token ?? '');
  const entered = await join(app, room.name, { name: 'Third', token: third?.token });
  expect(entered.body.participant).toMatchObject({ id: third?.id, status: 'joined' });
});

test('lowering the limit removes nobody; removing it lets people in', async () => {
  const room = await addRoom(app, team, team.owner);
  for (const name of ['A', 'B', 'C']) await addGuest(app, room.name, { name });
  const { body } = await change(room, { max_participants: 1 });
  expect(body.room.max_participants).toBe(1);
  expect(await countJoined(room)).toBe(3);
  expect(await join(app, room.name, { name: 'D' })).toMatchObject(full(1));
  await change(room, { max_participants: null });
  expect((await join(app, room.name, { name: 'D' })).status).toBe(200);
});

test('a join takes a lock only in a room with a limit', async () => {
  const locks = async (settings: object) => {
    const room = await addRoom(app, team, team.owner, settings);
    const { roomId, workspaceId } = { roomId: room.id, workspaceId: team.id };
    return app.services.db.$transaction(async (tx) => {
      await tx.$queryRaw`select count_free_places(${workspaceId}::int, ${roomId}::int)`;
      const [held] = await tx.$queryRaw<{ held: number }[]>`
        select count(*)::int as held from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`;
      return held?.held;
    });
  };
  expect(await locks({})).toBe(0);
  expect(await locks({ max_participants: 3 })).toBe(1);
});

test('a room only for members: guests and other users get 403, with and without a waiting room', async () => {
  for (const waiting_room_enabled of [0, 1]) {
    const room = await addRoom(app, team, team.owner, { members_only: 1, waiting_room_enabled });
    for (const token of [undefined, team.outsider.token])
      expect(await join(app, room.name, { name: 'X' }, token)).toMatchObject(onlyMembers);
    for (const { token } of [team.member, team.admin, team.owner])
      expect((await join(app, room.name, {}, token)).body.participant.status).toBe('joined');
    expect((await app.http.get(`/api/rooms/${room.name}`)).body.room.members_only).toBe(1);
  }
});

test('making a room only for members refuses others who wait; those inside stay until they leave', async () => {
  const room = await addRoom(app, team, team.owner);
  const inside = await addGuest(app, room.name, { name: 'Inside' });
  await change(room, { waiting_room_enabled: 1 });
  const waiting = await addGuest(app, room.name, { name: 'Waiting' });
  await change(room, { members_only: 1 });
  expect((await presence(app, room.name, waiting.token)).body.participant.status).toBe('refused');
  expect((await presence(app, room.name, inside.token)).body.participant.status).toBe('joined');
  expect((await join(app, room.name, { name: 'Inside', token: inside.token })).status).toBe(200);
  await leave(app, room.name, inside.token);
  expect(await join(app, room.name, { name: 'Inside', token: inside.token })).toMatchObject(onlyMembers);
});

test('a waiting member who has left the workspace is not admitted to a room only for members', async () => {
  const room = await addRoom(app, team, team.owner, { members_only: 1 });
  const { participant } = (await join(app, room.name, {}, team.member.token)).body;
  await app.http.post(`/api/dashboard/rooms/${room.name}/participants/${participant.id}/remove`, team.owner.token);
  const waiting = (await join(app, room.name, {}, team.member.token)).body.participant;
  expect(waiting.status).toBe('waiting');
  const where = { workspaceId: team.id, userId: team.member.id };
  await app.services.db.member.deleteMany({ where });
  expect(await decide(app, 'admit', room.name, waiting.id, team.owner.token)).toMatchObject(onlyMembers);
  await app.services.db.member.create({ data: { ...where, role: 'member', joinedAt: app.clock.now() } });
  expect((await decide(app, 'admit', room.name, waiting.id, team.owner.token)).status).toBe(200);
});

test('joins that race with making a room only for members leave no guest who waits', async () => {
  const room = await addRoom(app, team, team.owner, { waiting_room_enabled: 1 });
  const joins = concurrently(20, (index) => join(app, room.name, { name: `Guest ${index}` }));
  expect((await change(room, { members_only: 1 })).status).toBe(200);
  const { participants } = (await list(app, room.name, team.owner.token)).body;
  await joins;
  expect(participants).toEqual([]);
  expect((await list(app, room.name, team.owner.token)).body.participants).toEqual([]);
});
