/** Someone who joins again while still present, because the page was reloaded, stays the same participant. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { concurrently } from '../support/concurrently.ts';
import { dumpTables } from '../support/dump.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Person, type Team } from '../support/world.ts';
import {
  addGuest,
  addRoom,
  addWaitingRoom,
  decide,
  expectError,
  join,
  leave,
  list,
  presence,
  roomEvents,
  type TestRoom,
} from './rooms.ts';

let app: TestApp;
let team: Team;
let user: Person;
let room: TestRoom;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  user = await addPerson(app, 'Uma');
});
afterAll(() => app.close());
beforeEach(async () => {
  room = await addRoom(app, team, team.owner);
});

async function expectJoins(count: number, inRoom = room): Promise<void> {
  expect(await roomEvents(app, team.id, inRoom.id, 'room.joined')).toHaveLength(count);
  expect(await roomEvents(app, team.id, inRoom.id, 'room.left')).toEqual([]);
  expect(await app.services.db.contactEvent.count({ where: { roomId: inRoom.id } })).toBe(count);
}

async function rejoin(json: object, token?: string, { name } = room) {
  const { status, body } = await join(app, name, json, token);
  expect(status).toBe(200);
  return body.participant;
}

describe('a signed-in user who joins again while still present', () => {
  test('is the same participant with the same token, and is counted once', async () => {
    const first = await rejoin({}, user.token);
    for (let time = 0; time < 4; time += 1) expect(await rejoin({ name: 'Other' }, user.token)).toEqual(first);
    await expectJoins(1);
    expect((await list(app, room.name, team.owner.token)).body.participants).toHaveLength(1);
    const { topRooms } = (await app.http.get(`${team.path}/analytics`, team.owner.token)).body;
    expect(topRooms).toContainEqual(expect.objectContaining({ id: room.id, count: 1 }));
    expect((await presence(app, room.name, first.token)).body.participant.status).toBe('joined');
  });

  test('gets another token, which works, if the encryption key has changed', async () => {
    const first = await rejoin({}, user.token);
    const { sealer, db } = app.services;
    const sealedToken = sealer.seal(first.token, { workspaceId: team.id, purpose: 'webhook secret' });
    await db.participant.updateMany({ where: { id: first.id }, data: { sealedToken } });
    const second = await rejoin({}, user.token);
    expect(second).toEqual({ ...first, token: expect.stringMatching(/^lnp_/) });
    expect(second.token).not.toBe(first.token);
    expect((await presence(app, room.name, second.token)).body.participant.status).toBe('joined');
    expect(await rejoin({}, user.token)).toEqual(second);
    await expectJoins(1);
  });

  test('is counted once in 10 joins at once, also by a second session', async () => {
    const { body } = await app.http.post('/api/auth/login', undefined, {
      email: user.email,
      password: 'correct horse battery staple',
    });
    const joined = await concurrently(10, (index) => rejoin({}, index % 2 ? user.token : body.token));
    expect(new Set(joined.map(({ id, token }) => `${id} ${token}`)).size).toBe(1);
    await expectJoins(1);
  });

  test('is seen, so that the participant does not expire', async () => {
    const { id } = await rejoin({}, user.token);
    const lastSeenAt = async () =>
      (await app.services.db.participant.findFirstOrThrow({ where: { id } })).lastSeenAt.getTime();
    const before = await lastSeenAt();
    app.clock.advance(200_000);
    await rejoin({}, user.token);
    expect(await lastSeenAt()).toBeGreaterThanOrEqual(before + 200_000);
  });

  test('is another participant in another room, for another user, and after leaving', async () => {
    const first = await rejoin({}, user.token);
    const other = await addRoom(app, team, team.owner);
    expect((await rejoin({}, user.token, other)).id).not.toBe(first.id);
    expect((await rejoin({}, team.member.token)).id).not.toBe(first.id);
    await leave(app, room.name, first.token);
    const again = await rejoin({}, user.token);
    expect([again.id, again.token]).not.toContain(first.id);
    expect(again.token).not.toBe(first.token);
    expect(await roomEvents(app, team.id, room.id, 'room.joined')).toHaveLength(3);
  });

  test('still waits while waiting, enters once admitted, and waits anew after being refused', async () => {
    const waiting = await addWaitingRoom(app, team, team.owner);
    const first = await rejoin({}, user.token, waiting);
    expect(await rejoin({}, user.token, waiting)).toEqual(first);
    expect(first.status).toBe('waiting');
    await decide(app, 'admit', waiting.name, first.id, team.owner.token);
    expect(await rejoin({}, user.token, waiting)).toMatchObject({ id: first.id, status: 'joined' });
    await expectJoins(1, waiting);
    const refused = await rejoin({ name: 'Gus' }, undefined, waiting);
    await decide(app, 'refuse', waiting.name, refused.id, team.owner.token);
    const again = await rejoin({ name: 'Gus', token: refused.token }, undefined, waiting);
    expect(again).toMatchObject({ status: 'waiting' });
    expect(again.id).not.toBe(refused.id);
  });
});

describe('a guest', () => {
  test('who sends their token again while present is the same participant, and needs no name', async () => {
    const first = await rejoin({ name: 'Gus', email: 'gus@example.com' });
    for (const json of [{ token: first.token }, { token: first.token, name: 'Other', email: 'other@example.com' }])
      expect(await rejoin(json)).toEqual(first);
    await expectJoins(1);
    expect(await app.services.db.contact.count({ where: { email: 'other@example.com' } })).toBe(0);
  });

  test('with a token that is unknown, of another room or of someone who has left is a new participant', async () => {
    const other = await addRoom(app, team, team.owner);
    const gone = await addGuest(app, room.name);
    await leave(app, room.name, gone.token);
    for (const token of [`lnp_${'A'.repeat(43)}`, 'x', '', null, (await addGuest(app, other.name)).token, gone.token]) {
      expectError(await join(app, room.name, { token }), 400, 'name is required');
      const participant = await rejoin({ name: 'Gus', token });
      expect(participant.token).not.toBe(token);
      expect(participant.id).not.toBe(gone.id);
    }
  });

  test('who signs in afterwards stays the same participant by the token', async () => {
    const guest = await rejoin({ name: 'Gus' });
    expect(await rejoin({ token: guest.token }, user.token)).toEqual(guest);
    await expectJoins(1);
  });
});

test("the token of another user's participant is ignored", async () => {
  const own = await rejoin({}, user.token);
  const other = await rejoin({ token: own.token }, team.member.token);
  expect(other.id).not.toBe(own.id);
  expect(other.name).toBe(team.member.name);
});

test('the database does not contain the token', async () => {
  const { token } = await rejoin({}, user.token);
  expect(JSON.stringify((await dumpTables(app)).participants)).not.toContain(token);
});

describe('a guest who was admitted, and left, joins again with their token', () => {
  const HOUR_MS = 60 * 60_000;
  const statusWith = async (token: string | undefined, credential?: string) =>
    (await rejoin({ name: 'Gina', token }, credential)).status;

  /** Admits a guest to a new room with a waiting room. */
  async function admitGuest(): Promise<{ id: number; token: string }> {
    room = await addWaitingRoom(app, team, team.owner);
    const guest = await addGuest(app, room.name);
    expect((await decide(app, 'admit', room.name, guest.id, team.owner.token)).status).toBe(200);
    return guest;
  }

  test('and does not wait again, once or several times, but others do', async () => {
    const { token } = await admitGuest();
    await leave(app, room.name, token);
    expect(await statusWith(undefined)).toBe('waiting');
    expect(await statusWith((await addGuest(app, (await addRoom(app, team, team.owner)).name)).token)).toBe('waiting');
    const back = await rejoin({ name: 'Gina', token });
    expect(back.status).toBe('joined');
    await leave(app, room.name, back.token);
    expect(await statusWith(back.token)).toBe('joined');
  });

  test('at the same time as many others, without a deadlock', async () => {
    room = await addWaitingRoom(app, team, team.owner);
    const guests = await concurrently(10, () => addGuest(app, room.name));
    for (const { id } of guests) await decide(app, 'admit', room.name, id, team.owner.token);
    for (const { token } of guests) await leave(app, room.name, token);
    const statuses = await Promise.all(guests.map(({ token }) => statusWith(token)));
    expect(statuses).toEqual(Array(10).fill('joined'));
  });

  test.each<[string, (guest: { id: number; token: string }) => Promise<unknown>]>([
    [
      'a host has removed them',
      ({ id }) => app.http.post(`${pathOf(room)}/participants/${id}/remove`, team.owner.token),
    ],
    ['a host has closed the meeting', () => app.http.post(`${pathOf(room)}/close`, team.owner.token)],
    [
      'a host has closed the meeting after they left',
      async ({ token }) => {
        const other = await addGuest(app, room.name);
        await decide(app, 'admit', room.name, other.id, team.owner.token);
        await leave(app, room.name, token);
        await app.http.post(`${pathOf(room)}/close`, team.owner.token);
      },
    ],
    [
      'they left more than an hour ago',
      async ({ token }) => {
        await leave(app, room.name, token);
        app.clock.advance(HOUR_MS + 1_000);
      },
    ],
  ])('and waits if %s', async (_, end) => {
    const guest = await admitGuest();
    await end(guest);
    expect(await statusWith(guest.token)).toBe('waiting');
  });

  test('and waits if they were never admitted', async () => {
    room = await addWaitingRoom(app, team, team.owner);
    const { token } = await addGuest(app, room.name);
    await leave(app, room.name, token);
    expect(await statusWith(token)).toBe('waiting');
  });

  test('but another user with the token of a user waits', async () => {
    room = await addWaitingRoom(app, team, team.owner);
    const own = await rejoin({}, user.token);
    await decide(app, 'admit', room.name, own.id, team.owner.token);
    await leave(app, room.name, own.token);
    expect(await statusWith(own.token, team.outsider.token)).toBe('waiting');
    expect(await statusWith(own.token)).toBe('waiting');
    expect(await statusWith(own.token, user.token)).toBe('joined');
  });
});

function pathOf({ name }: TestRoom): string {
  return `/api/dashboard/rooms/${name}`;
}
