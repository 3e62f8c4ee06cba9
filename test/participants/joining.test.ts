/** Joining a room as a guest and as a user: responses and effects. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { addKey } from '../rooms/keys.ts';
import { dumpTables } from '../support/dump.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, PASSWORD, type Team } from '../support/world.ts';
import { addRoom, addWaitingRoom, expectError, HELD_AT, HELD_SECONDS, join, leave, list, roomEvents } from './rooms.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: HELD_AT });
  team = await addTeam(app);
});
afterAll(() => app.close());

function contacts(email: string) {
  return app.services.db.contact.findMany({ where: { workspaceId: team.id, email } });
}
function contactEvents(roomId: number) {
  return app.services.db.contactEvent.findMany({ where: { roomId } });
}

describe('a guest', () => {
  test('with an email address joins and becomes a contact', async () => {
    const room = await addRoom(app, team, team.owner);
    app.clock.advance(60_000);
    const at = HELD_SECONDS + 60;
    const { status, body } = await join(app, room.name, { name: '  Vera Novak ', email: ' Vera@Example.com ' });
    app.clock.advance(-60_000);
    expect(status).toBe(200);
    const { participant } = body;
    expect(participant).toEqual({
      id: expect.any(Number),
      reference: expect.stringMatching(new RegExp(`^ref_${participant.id}_[\\w-]{43}$`)),
      room_name: room.name,
      name: 'Vera Novak',
      status: 'joined',
      end_reason: null,
      is_host: 0,
      is_member: 0,
      room_locked: 0,
      may_record: null,
      user_id: null,
      external_id: null,
      metadata: null,
      waiting_room_message: null,
      joined_at: at,
      created_at: at,
      token: expect.stringMatching(/^lnp_[A-Za-z0-9_-]{43}$/),
    });
    const [contact] = await contacts('vera@example.com');
    expect(contact).toMatchObject({ name: 'Vera Novak', workspaceId: team.id });
    const row = await app.services.db.participant.findFirstOrThrow({ where: { id: participant.id } });
    expect(row).toMatchObject({ email: 'vera@example.com', userId: null, contactId: contact?.id, leftAt: null });
    expect(JSON.stringify(await dumpTables(app))).not.toContain(participant.token.slice(4));
    expect(await roomEvents(app, team.id, room.id, 'room.joined')).toEqual([
      {
        workspace_id: team.id,
        room_id: room.id,
        room_name: room.name,
        participant_id: participant.id,
        participant_name: 'Vera Novak',
        user_id: null,
        contact_id: contact?.id,
        external_id: null,
        metadata: null,
        joined_at: at,
      },
    ]);
    expect(await contactEvents(room.id)).toMatchObject([{ type: 'room_join', contactId: contact?.id }]);
    const { last_used_at } = (await app.http.get(`/api/dashboard/rooms/${room.name}`, team.owner.token)).body.room;
    expect(last_used_at).toBe(at);
    const { topRooms } = (await app.http.get(`${team.path}/analytics`, team.owner.token)).body;
    expect(topRooms).toContainEqual({ id: room.id, name: room.name, display_name: null, count: 1 });
  });

  test('without an email address joins and does not become a contact', async () => {
    const room = await addRoom(app, team, team.owner);
    const before = await app.services.db.contact.count();
    for (const email of [undefined, null])
      expect(await join(app, room.name, { name: 'Gus', email })).toMatchObject({ status: 200 });
    expect(await app.services.db.contact.count()).toBe(before);
    expect(await roomEvents(app, team.id, room.id, 'room.joined')).toMatchObject([
      { user_id: null, contact_id: null },
      { user_id: null, contact_id: null },
    ]);
    expect(await contactEvents(room.id)).toMatchObject([{ contactId: null }, { contactId: null }]);
  });

  test('joins with the typed client, without a credential', async () => {
    const room = await addRoom(app, team, team.owner);
    const { participant } = await createClient({ url: app.url }).participants.join.mutate({
      roomName: room.name,
      name: 'Gus',
    });
    expect(participant).toMatchObject({ status: 'joined', room_name: room.name, name: 'Gus' });
  });

  test.each([
    ['an ended session', `Bearer lns_${'A'.repeat(43)}`],
    ['an unknown key', `Bearer lnx_${'A'.repeat(43)}`],
    ['the token of a participant', `Bearer lnp_${'A'.repeat(43)}`],
    ['a malformed token', 'Bearer x'],
    ['another scheme', 'Basic YTpi'],
    ['nothing', ''],
  ])('is nobody who shows %s: 401', async (_, authorization) => {
    const room = await addRoom(app, team, team.owner);
    const before = await dumpTables(app);
    const options = { headers: { authorization }, json: { name: 'Gus' } };
    const answer = await app.http.call('POST', `/api/rooms/${room.name}/join`, options);
    expectError(answer, 401, 'Unauthorized');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(await dumpTables(app)).toEqual(before);
  });

  test.each([`session=lns_${'A'.repeat(43)}`, 'session=of another service'])(
    'with the invalid cookie %s, which browsers send by themselves, joins as a guest',
    async (cookie) => {
      const room = await addRoom(app, team, team.owner);
      const call = (json: object) =>
        app.http.call('POST', `/api/rooms/${room.name}/join`, { headers: { cookie }, json });
      expectError(await call({}), 400, 'name is required');
      expect(await call({ name: 'Gus' })).toMatchObject({ status: 200, body: { participant: { name: 'Gus' } } });
    },
  );

  test('with an ended session joins only without the header', async () => {
    const room = await addRoom(app, team, team.owner);
    const { token } = await addPerson(app);
    expect((await join(app, room.name, {}, token)).status).toBe(200);
    expect((await app.http.post('/api/auth/logout', token)).status).toBe(200);
    expectError(await join(app, room.name, { name: 'Gus' }, token), 401, 'Unauthorized');
    expect((await join(app, room.name, { name: 'Gus' })).status).toBe(200);
  });

  test.each([
    [{}, 'name is required'],
    [undefined, 'name is required'],
    [{ name: '' }, 'name is required'],
    [{ name: ' \t' }, 'name is required'],
    [{ name: null, email: 'a@example.com' }, 'name is required'],
    [{ name: 7 }, 'name must be a string'],
    [{ name: 'x'.repeat(101) }, 'name must have at most 100 characters'],
    [{ name: 'a\nb' }, 'name must not contain control characters or invalid Unicode'],
    [{ name: 'a\u0000' }, 'name must not contain control characters or invalid Unicode'],
    [{ name: '\ud800' }, 'name must not contain control characters or invalid Unicode'],
    [{ name: 'Gus', email: '' }, 'email must be a valid email address'],
    [{ name: 'Gus', email: 'a@b' }, 'email must be a valid email address'],
    [{ name: 'Gus', email: '\u212aim@example.com' }, 'email must be a valid email address'],
    [[], 'Request body must be a JSON object'],
  ])('%j is refused, and leaves nothing behind', async (json, message) => {
    const room = await addRoom(app, team, team.owner);
    const before = await dumpTables(app);
    expectError(await join(app, room.name, json), 400, message);
    expect(await dumpTables(app)).toEqual(before);
  });

  test.each(['no-such-room', 'A', '%00', '%ED%A0%80', 'x'.repeat(300)])(
    'joining the unknown room %s: 404',
    async (name) => {
      const before = await dumpTables(app);
      const { status, body } = await join(app, name, { name: 'Gus' });
      expect([status, body.message]).toEqual(
        name === '%ED%A0%80' ? [400, expect.any(String)] : [404, 'Room not found'],
      );
      expect(await dumpTables(app)).toEqual(before);
    },
  );
});

test('an API key is no person: two visitors of its program join only without it, as two participants', async () => {
  const room = await addRoom(app, team, team.owner);
  const keys = [await addKey(app, team.id, team.owner), await addKey(app, team.id, team.member)];
  const before = await dumpTables(app);
  for (const key of keys) {
    for (const name of ['Vera', 'Viktor']) {
      const answer = await join(app, room.name, { name, email: `${name}@example.com` }, key);
      expectError(answer, 403, 'Join with a session, or as a guest without the Authorization header');
      expect(answer.body.code).toBe('KEY_IS_NO_PERSON');
    }
  }
  expect({ ...(await dumpTables(app)), api_keys: before.api_keys }).toEqual(before);
  const visitors = await Promise.all(['Vera', 'Viktor'].map((name) => join(app, room.name, { name })));
  const participants = visitors.map(({ body }) => body.participant);
  expect(participants.map(({ name, status }) => [name, status])).toEqual([
    ['Vera', 'joined'],
    ['Viktor', 'joined'],
  ]);
  expect(participants[0].token).not.toBe(participants[1].token);
});

describe('a user', () => {
  test('needs no name, and has the email address of the account, whatever is sent', async () => {
    const room = await addRoom(app, team, team.owner);
    const { outsider } = team;
    const named = await join(app, room.name, undefined, outsider.token);
    expect(named).toMatchObject({ status: 200, body: { participant: { name: outsider.name, status: 'joined' } } });
    await leave(app, room.name, named.body.participant.token);
    const renamed = await join(app, room.name, { name: 'Otto O.', email: 'boss@example.com' }, outsider.token);
    expect(renamed).toMatchObject({ status: 200, body: { participant: { name: 'Otto O.' } } });
    const { participants } = (await list(app, room.name, team.owner.token)).body;
    expect(participants).toMatchObject([{ name: 'Otto O.', email: outsider.email, user_id: outsider.id }]);
    expect(await contacts('boss@example.com')).toEqual([]);
    expect(await contacts(outsider.email)).toHaveLength(1);
    expect(await roomEvents(app, team.id, room.id, 'room.joined')).toMatchObject([
      { user_id: outsider.id },
      { user_id: outsider.id },
    ]);
  });

  test('waits in a waiting room, except for the hosts of the room and the members of its workspace', async () => {
    const room = await addWaitingRoom(app, team, team.admin);
    const statusOf = async (credential: string | undefined): Promise<string> => {
      const { status, token } = (await join(app, room.name, { name: 'X' }, credential)).body.participant;
      await leave(app, room.name, token);
      return status;
    };
    expect(await statusOf(undefined)).toBe('waiting');
    expect(await statusOf(team.outsider.token)).toBe('waiting');
    expect(await statusOf(team.member.token)).toBe('joined');
    expect(await statusOf(team.admin.token)).toBe('joined');
    expect(await statusOf(team.owner.token)).toBe('joined');
  });

  test('who owns the room is its host, also with the role member', async () => {
    const other = await addTeam(app);
    const room = await addWaitingRoom(app, other, other.admin);
    await app.http.patch(`${other.path}/members/${other.admin.id}`, other.owner.token, { role: 'member' });
    expect(await join(app, room.name, {}, other.admin.token)).toMatchObject({
      body: { participant: { status: 'joined' } },
    });
  });

  test('with the cookie from another origin: 403', async () => {
    const room = await addRoom(app, team, team.owner);
    const headers = { cookie: `session=${team.owner.token}`, origin: 'https://foreign.example.com' };
    const answer = await app.http.call('POST', `/api/rooms/${room.name}/join`, { headers, json: { name: 'X' } });
    expectError(
      answer,
      403,
      'Cross-origin request refused: add the origin of the page to CORS_ORIGINS, or send a token',
    );
  });

  test('whose account is deleted remains a participant without a user', async () => {
    const person = await addPerson(app);
    const room = await addRoom(app, team, team.owner);
    await join(app, room.name, {}, person.token);
    expect((await app.http.delete('/api/auth/me', person.token)).status).toBe(200);
    expect((await list(app, room.name, team.owner.token)).body.participants).toMatchObject([
      { user_id: null, name: person.name, status: 'joined' },
    ]);
  });
});

test('a waiting participant has no effect on the room, contacts and events', async () => {
  const room = await addWaitingRoom(app, team, team.owner);
  const before = await dumpTables(app);
  app.clock.advance(5_000);
  const { body } = await join(app, room.name, { name: 'Will', email: 'will@example.com' });
  app.clock.advance(-5_000);
  expect(body.participant).toMatchObject({
    status: 'waiting',
    waiting_room_message: 'One moment, please',
    joined_at: null,
    created_at: HELD_SECONDS + 5,
  });
  const { participants, ...rest } = await dumpTables(app);
  expect(participants).toHaveLength((before.participants?.length ?? 0) + 1);
  expect(rest).toEqual(Object.fromEntries(Object.entries(before).filter(([table]) => table !== 'participants')));
});

test('joins of guests count by network address, those of users do not', async () => {
  const limited = await startTestApp({ limits: { publicPerAddress: 3 } });
  try {
    const other = await addTeam(limited);
    for (let call = 0; call < 3; call += 1)
      expectError(await join(limited, 'no-such-room', { name: 'X' }), 404, 'Room not found');
    expect((await join(limited, 'no-such-room', { name: 'X' })).status).toBe(429);
    expect((await join(limited, 'no-such-room', {}, other.owner.token)).status).toBe(404);
  } finally {
    await limited.close();
  }
});

test('the rate limit of a user is shared by their sessions and keys', async () => {
  const limited = await startTestApp({ limits: { perUser: 7 } });
  try {
    const other = await addTeam(limited);
    const room = await addRoom(limited, other, other.owner);
    const strangers = await addTeam(limited);
    const { email, token } = strangers.owner;
    const login = await limited.http.post('/api/auth/login', undefined, { email, password: PASSWORD });
    const key = await addKey(limited, strangers.id, strangers.owner);
    const statuses: number[] = [];
    // Creating the workspace counts too.
    for (const credential of [token, login.body.token, key, token, login.body.token, key, token, login.body.token, key])
      statuses.push((await join(limited, room.name, {}, credential)).status);
    expect(statuses).toEqual([200, 200, 403, 200, 200, 403, 429, 429, 429]);
    expect((await join(limited, room.name, {}, other.member.token)).status).toBe(200);
    expect((await limited.http.get('/api/auth/me', token)).status).toBe(429);
  } finally {
    await limited.close();
  }
});

test('the document says that joining has an optional credential, and describes the response', async () => {
  const { paths, components } = (await app.http.get('/openapi.json')).body;
  const { security, responses } = paths['/api/rooms/{roomName}/join'].post;
  expect(security).toEqual([{}, { bearer: [] }, { cookie: [] }]);
  const statuses = [200, 400, 401, 403, 404, 408, 409, 413, 414, 415, 422, 429, 431, 500, 503].map(String);
  expect(Object.keys(responses)).toEqual(statuses);
  expect(paths['/api/rooms/{roomName}/presence'].post.security).toEqual([]);
  expect(paths['/api/dashboard/rooms'].post.security).toEqual([{ bearer: [] }, { cookie: [] }]);
  expect(Object.keys(components.schemas)).toEqual(
    expect.arrayContaining(['JoinedParticipant', 'OwnParticipant', 'Participant']),
  );
  expect(components.securitySchemes.bearer.description).toMatch(/`lns_.*`lnx_.*`lnr_/);
});
