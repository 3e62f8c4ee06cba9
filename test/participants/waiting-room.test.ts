/** Admitting and refusing participants, and who may do so. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addKey } from '../rooms/keys.ts';
import { dumpTables } from '../support/dump.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import {
  addGuest,
  addRoom,
  addWaitingRoom,
  decide,
  expectError,
  HELD_AT,
  HELD_SECONDS,
  leave,
  list,
  presence,
  roomEvents,
  type TestRoom,
} from './rooms.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: HELD_AT });
  team = await addTeam(app);
});
afterAll(() => app.close());

describe('admitting', () => {
  test('has the effects of joining, at the time of the admission', async () => {
    const room = await addWaitingRoom(app, team, team.owner);
    const will = await addGuest(app, room.name, { name: 'Will', email: 'will@example.com' });
    app.clock.advance(30_000);
    const { status, body } = await decide(app, 'admit', room.name, will.id, team.admin.token);
    app.clock.advance(-30_000);
    expect(status).toBe(200);
    const contact = await app.services.db.contact.findFirstOrThrow({ where: { email: 'will@example.com' } });
    const at = HELD_SECONDS + 30;
    expect(body).toEqual({
      participant: {
        id: will.id,
        name: 'Will',
        email: 'will@example.com',
        user_id: null,
        contact_id: contact.id,
        external_id: null,
        metadata: null,
        status: 'joined',
        end_reason: null,
        created_at: HELD_SECONDS,
        joined_at: at,
        left_at: null,
      },
    });
    expect(await roomEvents(app, team.id, room.id, 'room.joined')).toMatchObject([
      { participant_id: will.id, contact_id: contact.id, joined_at: at },
    ]);
    expect(await app.services.db.contactEvent.count({ where: { roomId: room.id, contactId: contact.id } })).toBe(1);
    const read = await app.http.get(`/api/dashboard/rooms/${room.name}`, team.owner.token);
    expect(read.body.room.last_used_at).toBe(at);
    expect((await presence(app, room.name, will.token)).body.participant).toMatchObject({
      status: 'joined',
      joined_at: at,
      waiting_room_message: null,
    });
  });

  test('again changes nothing; a participant who was refused or has left: 409', async () => {
    const room = await addWaitingRoom(app, team, team.owner);
    const [once, refused, gone] = [
      await addGuest(app, room.name),
      await addGuest(app, room.name),
      await addGuest(app, room.name),
    ];
    await decide(app, 'admit', room.name, once.id, team.owner.token);
    await decide(app, 'refuse', room.name, refused.id, team.owner.token);
    await leave(app, room.name, gone.token);
    const before = await dumpTables(app);
    const again = await decide(app, 'admit', room.name, once.id, team.owner.token);
    expect(again).toMatchObject({ status: 200, body: { participant: { status: 'joined' } } });
    expectError(
      await decide(app, 'admit', room.name, refused.id, team.owner.token),
      409,
      'The participant has already been refused',
    );
    expectError(
      await decide(app, 'admit', room.name, gone.id, team.owner.token),
      409,
      'The participant has already left',
    );
    expect(await dumpTables(app)).toEqual(before);
  });
});

describe('refusing', () => {
  test('is final and emits no event; refusing again changes nothing', async () => {
    const room = await addWaitingRoom(app, team, team.owner);
    const will = await addGuest(app, room.name, { name: 'Will', email: 'refused@example.com' });
    for (let time = 0; time < 2; time += 1) {
      const { status, body } = await decide(app, 'refuse', room.name, will.id, team.admin.token);
      expect([status, body.participant]).toMatchObject([200, { status: 'refused', joined_at: null, left_at: null }]);
    }
    expect((await presence(app, room.name, will.token)).body.participant).toMatchObject({
      status: 'refused',
      waiting_room_message: null,
    });
    expect((await leave(app, room.name, will.token)).body).toEqual({ ok: true });
    expect((await presence(app, room.name, will.token)).body.participant.status).toBe('refused');
    for (const type of ['room.joined', 'room.left']) expect(await roomEvents(app, team.id, room.id, type)).toEqual([]);
    expect(await app.services.db.contact.count({ where: { email: 'refused@example.com' } })).toBe(0);
  });

  test('a participant who has joined or left: 409', async () => {
    const room = await addRoom(app, team, team.owner);
    const [inside, gone] = [await addGuest(app, room.name), await addGuest(app, room.name)];
    await leave(app, room.name, gone.token);
    const before = await dumpTables(app);
    expectError(
      await decide(app, 'refuse', room.name, inside.id, team.owner.token),
      409,
      'The participant has already joined',
    );
    expectError(
      await decide(app, 'refuse', room.name, gone.id, team.owner.token),
      409,
      'The participant has already left',
    );
    expect(await dumpTables(app)).toEqual(before);
  });
});

test('only the hosts of the room list, admit and refuse; others get 404', async () => {
  const room = await addWaitingRoom(app, team, team.admin);
  const other = await addRoom(app, team, team.owner);
  const foreign = await addTeam(app);
  const foreignRoom = await addWaitingRoom(app, foreign, foreign.owner);
  const will = await addGuest(app, room.name);
  const foreignWill = await addGuest(app, foreignRoom.name);
  const elsewhere = await addKey(app, foreign.id, foreign.owner);
  // The first use of a key is stored.
  expect((await app.http.get('/api/workspaces', elsewhere)).status).toBe(200);
  const before = await dumpTables(app);
  for (const token of [team.member.token, team.outsider.token, foreign.owner.token, elsewhere]) {
    expectError(await list(app, room.name, token), 404, 'Room not found');
    for (const decision of ['admit', 'refuse'] as const)
      expectError(await decide(app, decision, room.name, will.id, token), 404, 'Room not found');
  }
  expectError(await list(app, room.name, undefined), 401, 'Unauthorized');
  expectError(await decide(app, 'admit', room.name, will.id, will.token), 403, 'Forbidden');
  for (const [name, id] of [
    [other.name, will.id],
    [room.name, foreignWill.id],
    [room.name, 2_147_483_647],
  ] as const)
    expectError(await decide(app, 'admit', name, id, team.owner.token), 404, 'Participant not found');
  expectError(
    await decide(app, 'admit', room.name, 'x', team.owner.token),
    400,
    'participantId must be a positive 32-bit integer',
  );
  expect(await dumpTables(app)).toEqual(before);
  const key = await addKey(app, team.id, team.owner);
  expect((await list(app, room.name, key)).status).toBe(200);
  expect((await decide(app, 'admit', room.name, will.id, key)).status).toBe(200);
});

test('a host who is demoted or removed is not a host from the next call on', async () => {
  const other = await addTeam(app);
  const room = await addWaitingRoom(app, other, other.owner);
  const will = await addGuest(app, room.name);
  const me = `${other.path}/members/${other.admin.id}`;
  await app.http.patch(me, other.owner.token, { role: 'member' });
  expectError(await decide(app, 'admit', room.name, will.id, other.admin.token), 404, 'Room not found');
  await app.http.patch(me, other.owner.token, { role: 'admin' });
  expect((await list(app, room.name, other.admin.token)).status).toBe(200);
  await app.http.delete(me, other.owner.token);
  expectError(await list(app, room.name, other.admin.token), 404, 'Room not found');
});

test('the list is newest first, of those present or of one status, in pages, also with the typed client', async () => {
  const room = await addWaitingRoom(app, team, team.owner);
  const guests = [];
  for (const name of ['A', 'B', 'C', 'D']) guests.push(await addGuest(app, room.name, { name }));
  const [a, b, c, d] = guests;
  await decide(app, 'admit', room.name, a?.id, team.owner.token);
  await decide(app, 'refuse', room.name, b?.id, team.owner.token);
  await leave(app, room.name, c?.token ?? '');
  const ids = async (query: string): Promise<number[]> =>
    (await list(app, room.name, team.owner.token, query)).body.participants.map(({ id }: { id: number }) => id);
  expect(await ids('')).toEqual([d?.id, a?.id]);
  expect(await ids('?status=waiting')).toEqual([d?.id]);
  expect(await ids('?status=joined')).toEqual([a?.id]);
  expect(await ids('?status=refused')).toEqual([b?.id]);
  expect(await ids('?status=left')).toEqual([c?.id]);
  expect(await ids('?limit=1')).toEqual([d?.id]);
  expect(await ids('?limit=1&offset=1')).toEqual([a?.id]);
  const { body } = await list(app, room.name, team.owner.token, '?status=left');
  expect(await team.owner.client.participants.list.query({ name: room.name, status: 'left' })).toEqual(body);
  expect(body.participants[0]).toMatchObject({ joined_at: null, left_at: HELD_SECONDS });
  expect(JSON.stringify(body)).not.toMatch(/token|hash/);
});

describe('switching the waiting room off', () => {
  const settings = (room: TestRoom, json: object) =>
    app.http.patch(`/api/dashboard/rooms/${room.name}`, team.owner.token, json);
  const statusOf = async (room: TestRoom, token: string) => (await presence(app, room.name, token)).body.participant;

  test.each([0, false])('with %j admits everyone who waits, as an admission does', async (off) => {
    const room = await addWaitingRoom(app, team, team.owner);
    const email = `${off}@example.com`;
    const refused = await addGuest(app, room.name, { name: 'Rea' });
    await decide(app, 'refuse', room.name, refused.id, team.owner.token);
    const guests = [
      await addGuest(app, room.name, { name: 'Ada', email }),
      await addGuest(app, room.name, { name: 'Bea', email }),
      await addGuest(app, room.name, { name: 'Cleo' }),
    ];
    expect((await settings(room, { waiting_room_enabled: off })).status).toBe(200);
    for (const { token } of guests)
      expect(await statusOf(room, token)).toMatchObject({ status: 'joined', joined_at: expect.any(Number) });
    expect(await statusOf(room, refused.token)).toMatchObject({ status: 'refused' });
    const contact = await app.services.db.contact.findFirstOrThrow({
      where: { workspaceId: team.id, email },
    });
    expect(await roomEvents(app, team.id, room.id, 'room.joined')).toMatchObject([
      { participant_name: 'Ada', contact_id: contact.id },
      { participant_name: 'Bea', contact_id: contact.id },
      { participant_name: 'Cleo', contact_id: null },
    ]);
    expect(await app.services.db.contactEvent.count({ where: { roomId: room.id } })).toBe(3);
    await settings(room, { waiting_room_enabled: off });
    expect(await roomEvents(app, team.id, room.id, 'room.joined')).toHaveLength(3);
  });

  test('is the only setting that admits, and only to its own room', async () => {
    const room = await addWaitingRoom(app, team, team.owner);
    const other = await addWaitingRoom(app, team, team.owner);
    const [guest, elsewhere] = [await addGuest(app, room.name), await addGuest(app, other.name)];
    await settings(room, { waiting_room_message: 'Soon', waiting_room_enabled: 1 });
    expect((await statusOf(room, guest.token)).status).toBe('waiting');
    await settings(room, { waiting_room_enabled: 0 });
    expect((await statusOf(other, elsewhere.token)).status).toBe('waiting');
  });

  test('leaves nobody waiting, even if people join at the same time, and emits one event for each', async () => {
    const room = await addWaitingRoom(app, team, team.owner);
    const first = Array.from({ length: 10 }, () => addGuest(app, room.name));
    await first[0];
    const [answer, ...guests] = await Promise.all([
      settings(room, { waiting_room_enabled: 0 }),
      ...first,
      ...Array.from({ length: 10 }, () => addGuest(app, room.name)),
    ]);
    expect(answer.status).toBe(200);
    for (const { token } of guests) expect((await statusOf(room, token)).status).toBe('joined');
    expect(await roomEvents(app, team.id, room.id, 'room.joined')).toHaveLength(20);
  });

  test('admits more people than one statement takes', async () => {
    const room = await addWaitingRoom(app, team, team.owner);
    const at = app.clock.now();
    const row = { workspaceId: team.id, roomId: room.id, status: 'waiting', createdAt: at, lastSeenAt: at };
    const data = Array.from({ length: 1_001 }, (_, index) => ({ ...row, name: `Guest ${index}` }));
    await app.services.db.participant.createMany({ data });
    expect((await settings(room, { waiting_room_enabled: 0 })).status).toBe(200);
    expect(await app.services.db.participant.count({ where: { roomId: room.id, status: 'joined' } })).toBe(1_001);
    expect(await roomEvents(app, team.id, room.id, 'room.joined')).toHaveLength(1_001);
  });
});

test('those who wait in all rooms are listed to their hosts, in the order of their arrival', async () => {
  const other = await addTeam(app);
  const [first, second] = [
    await addWaitingRoom(app, other, other.owner),
    await addRoom(app, other, other.admin, { waiting_room_enabled: 1, display_name: 'Weekly sync' }),
  ];
  const open = await addRoom(app, other, other.owner);
  const foreign = await addWaitingRoom(app, team, team.owner);
  for (const room of [open, foreign]) await addGuest(app, room.name);
  const [a, b, c] = [
    await addGuest(app, first.name, { name: 'A' }),
    await addGuest(app, second.name, { name: 'B', email: 'b@example.com' }),
    await addGuest(app, first.name, { name: 'C' }),
  ];
  const read = async (token: string, query = '') =>
    (await app.http.get(`${other.path}/participants/waiting${query}`, token)).body;
  const ids = async (token: string): Promise<number[]> =>
    (await read(token)).participants.map(({ id }: { id: number }) => id);
  const { participants, next_cursor } = await read(other.owner.token, '?limit=2');
  const shared = { status: 'waiting', user_id: null, joined_at: null, is_host: 0, is_member: 0, email_verified: false };
  expect(participants).toMatchObject([
    { ...shared, id: a?.id, name: 'A', email: null, room: { id: first.id, name: first.name, display_name: null } },
    {
      ...shared,
      id: b?.id,
      email: 'b@example.com',
      room: { id: second.id, name: second.name, display_name: 'Weekly sync' },
    },
  ]);
  expect((await read(other.owner.token, `?cursor=${next_cursor}`)).participants).toMatchObject([{ id: c?.id }]);
  expect(JSON.stringify(participants)).not.toMatch(/token|hash|page_key/);

  // A member is a host only of rooms of their own.
  expect(await ids(other.member.token)).toEqual([]);
  await app.http.patch(`${other.path}/members/${other.admin.id}`, other.owner.token, { role: 'member' });
  expect(await ids(other.admin.token)).toEqual([b?.id]);
  await decide(app, 'admit', second.name, b?.id, other.admin.token);
  await decide(app, 'refuse', first.name, c?.id, other.owner.token);
  expect(await ids(other.owner.token)).toEqual([a?.id]);
});
