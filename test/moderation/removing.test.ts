/** A host removes a participant. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  addGuest,
  addRoom,
  addWaitingRoom,
  decide,
  HELD_AT,
  HELD_SECONDS,
  join,
  leave,
  list,
  presence,
  roomEvents,
} from '../participants/rooms.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Team } from '../support/world.ts';
import { close, remove } from './moderate.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: HELD_AT });
  team = await addTeam(app);
});
afterAll(() => app.close());

const statusOf = async (room: string, json: object, token?: string): Promise<unknown> =>
  (await join(app, room, json, token)).body.participant.status;

test('a removed participant has left, and their token is refused everywhere with a code of its own', async () => {
  const room = await addRoom(app, team, team.owner);
  const { id, token } = await addGuest(app, room.name);
  const removed = await remove(app, room.name, id, team.admin.token);
  expect([removed.status, removed.body.participant]).toMatchObject([
    200,
    { id, status: 'left', end_reason: 'removed', left_at: HELD_SECONDS },
  ]);
  for (const path of ['presence', 'leave', 'recordings'])
    expect(await app.http.post(`/api/rooms/${room.name}/${path}`, undefined, { token })).toMatchObject({
      status: 403,
      body: { code: 'PARTICIPANT_REMOVED', message: 'A host has removed you from this room' },
    });
  expect(await roomEvents(app, team.id, room.id, 'room.left')).toMatchObject([{ participant_id: id }]);
  expect((await list(app, room.name, team.owner.token)).body.participants).toEqual([]);
  const gone = (await list(app, room.name, team.owner.token, '?status=left')).body.participants;
  expect(gone).toMatchObject([{ id, end_reason: 'removed' }]);
});

test('removing again changes nothing, and one who waits is refused', async () => {
  const room = await addWaitingRoom(app, team, team.owner);
  const { id, token } = await addGuest(app, room.name);
  const first = await remove(app, room.name, id, team.owner.token);
  expect(first.body.participant).toMatchObject({ status: 'refused', end_reason: 'removed', left_at: null });
  expect((await remove(app, room.name, id, team.owner.token)).body).toEqual(first.body);
  expect((await presence(app, room.name, token)).body.code).toBe('PARTICIPANT_REMOVED');
  expect(await roomEvents(app, team.id, room.id, 'room.left')).toEqual([]);
  const entries = await app.services.db.auditEntry.findMany({
    where: { workspaceId: team.id, action: 'room.participant_removed', targetId: room.id },
  });
  expect(entries).toHaveLength(1);
});

test.each([
  ['the token', ({ token }: { token: string }) => ({ name: 'Somebody', token })],
  ['the address', () => ({ name: 'Somebody', email: ' REMOVED@example.com' })],
  ['the name', () => ({ name: 'gINA' })],
])(
  'a removed guest who comes back with %s waits to be admitted, in a room without a waiting room',
  async (_, person) => {
    const room = await addRoom(app, team, team.owner);
    const guest = await addGuest(app, room.name, { name: 'Gina', email: 'removed@example.com' });
    await remove(app, room.name, guest.id, team.owner.token);
    expect(await statusOf(room.name, { name: 'Another', email: 'other@example.com' })).toBe('joined');
    const back = await addGuest(app, room.name, person(guest));
    expect(back).toMatchObject({ status: 'waiting' });
    // Reloading the page, and saving the settings of the room, are no way around the host.
    expect(await statusOf(room.name, { token: back.token })).toBe('waiting');
    await app.http.patch(`/api/dashboard/rooms/${room.name}`, team.owner.token, { waiting_room_enabled: 0 });
    expect((await presence(app, room.name, back.token)).body.participant.status).toBe('waiting');
    await decide(app, 'admit', room.name, back.id, team.owner.token);
    expect((await presence(app, room.name, back.token)).body.participant.status).toBe('joined');
  },
);

test('a removed user waits until a host admits them, and from then on joins as before', async () => {
  const room = await addRoom(app, team, team.owner);
  const user = await addPerson(app);
  const { id } = (await join(app, room.name, {}, user.token)).body.participant;
  await remove(app, room.name, id, team.owner.token);
  const back = (await join(app, room.name, { name: 'Renamed' }, user.token)).body.participant;
  expect(back.status).toBe('waiting');
  await leave(app, room.name, back.token);
  const again = (await join(app, room.name, {}, user.token)).body.participant;
  expect(again.status).toBe('waiting');
  await decide(app, 'admit', room.name, again.id, team.admin.token);
  await leave(app, room.name, again.token);
  expect(await statusOf(room.name, {}, user.token)).toBe('joined');
});

test('a participant who left just before is kept out too; a host comes back at once', async () => {
  const room = await addRoom(app, team, team.owner);
  const guest = await addGuest(app, room.name, { name: 'Quick' });
  await leave(app, room.name, guest.token);
  expect((await remove(app, room.name, guest.id, team.owner.token)).status).toBe(200);
  expect(await roomEvents(app, team.id, room.id, 'room.left')).toHaveLength(1);
  expect(await statusOf(room.name, { name: 'Quick' })).toBe('waiting');
  const admin = (await join(app, room.name, {}, team.admin.token)).body.participant;
  await remove(app, room.name, admin.id, team.owner.token);
  expect(await statusOf(room.name, {}, team.admin.token)).toBe('joined');
});

test.each([
  ['the meeting is closed', (room: string) => close(app, room, team.owner.token)],
  ['24 hours have passed', async () => app.clock.advance(24 * 3_600_000)],
])('a removed person joins again once %s', async (_, end) => {
  const room = await addRoom(app, team, team.owner);
  const { id } = await addGuest(app, room.name, { name: 'Rita' });
  await remove(app, room.name, id, team.owner.token);
  await end(room.name);
  expect(await statusOf(room.name, { name: 'Rita' })).toBe('joined');
});

test('being removed from one room means nothing in another', async () => {
  const [one, other] = [await addRoom(app, team, team.owner), await addRoom(app, team, team.owner)];
  const { id } = await addGuest(app, one.name, { name: 'Olga', email: 'olga@example.com' });
  await remove(app, one.name, id, team.owner.token);
  expect(await statusOf(other.name, { name: 'Olga', email: 'olga@example.com' })).toBe('joined');
  expect((await remove(app, other.name, id, team.owner.token)).body.message).toBe('Participant not found');
});
