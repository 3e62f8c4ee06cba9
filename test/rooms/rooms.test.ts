/** Rooms of a user: requests and responses, by REST and, where the transports could differ, by tRPC. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '../support/http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, type Person, type Team } from '../support/world.ts';

const ROOMS = '/api/dashboard/rooms';

let app: TestApp;
let team: Team;
let ada: Person;
let personalId: number;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  ada = await addPerson(app);
  const { workspaces } = await ada.client.workspaces.list.query();
  personalId = workspaces[0]?.id ?? 0;
});
afterAll(() => app.close());

function create(token: string | undefined, json?: unknown): Promise<Answer> {
  return app.http.post(ROOMS, token, json);
}

let names = 0;
function newName(): string {
  names += 1;
  return `room-${names}`;
}

async function newRoom(by: Person, json: object = {}): Promise<string> {
  const { status, body } = await create(by.token, { name: newName(), ...json });
  expect(status).toBe(201);
  return body.room.name;
}

function expectError(answer: Answer, status: number, message: string): void {
  expect([answer.status, answer.body.message]).toEqual([status, message]);
}

describe('creating', () => {
  test('without a body uses a generated name, the defaults and the Personal workspace', async () => {
    const { status, body } = await create(ada.token);
    expect(status).toBe(201);
    expect(body).toEqual({
      room: {
        id: expect.any(Number),
        workspace_id: personalId,
        name: expect.stringMatching(/^[a-z]+-[a-z]+$/),
        user_id: ada.id,
        display_name: null,
        created_at: expect.any(Number),
        last_used_at: body.room.created_at,
        recording_count: 0,
        scheduled_at: null,
        accent_color: '#6366f1',
        waiting_room_enabled: 0,
        waiting_room_message: null,
        session_id: null,
        locked: 0,
        media: null,
        relay_only: 0,
        chat_enabled: 1,
        max_participants: null,
        members_only: 0,
        recordings_visible_to: 'members',
        who_may_record: 'everyone',
      },
    });
  });

  test('accepts every field; tRPC returns the same fields', async () => {
    const settings = {
      scheduled_at: 1767225600.5,
      accent_color: '#0f0',
      waiting_room_enabled: 1,
      waiting_room_message: 'One moment,\nplease',
      display_name: '  Stand-up ☕ ',
      session_id: null,
    } as const;
    const { body } = await create(ada.token, { name: 'stand-up', ...settings });
    expect(body.room).toMatchObject({ ...settings, name: 'stand-up', display_name: 'Stand-up ☕' });
    const { room } = await ada.client.rooms.create.mutate({ name: 'stand-up-2', ...settings });
    expect(room).toEqual({
      ...body.room,
      id: room.id,
      name: 'stand-up-2',
      created_at: room.created_at,
      last_used_at: room.created_at,
    });
  });

  test.each([
    'a-',
    '-a',
    'a--b',
    'A1',
    'a_b',
    'a b',
    'ä1',
    'x'.repeat(65),
    'ab\n',
    '',
    ' ab',
    'a\u0000',
    5,
    true,
    ['ab'],
    {},
  ])('name %j: 400 "Invalid room name"', async (name) => {
    expectError(await create(ada.token, { name }), 400, 'Invalid room name');
    const trpc = await app.http.post('/trpc/rooms.create', ada.token, { name });
    expect([trpc.status, trpc.body.error.message]).toEqual([400, 'Invalid room name']);
  });

  test.each(['a', '7', 'ab', '1-2', '00', 'x'.repeat(64), 'a-b-c-d'])('name %j is valid', async (name) => {
    expect(await create(ada.token, { name })).toMatchObject({ status: 201, body: { room: { name } } });
  });

  test('a name that any room of any workspace has: 409, and nothing is stored', async () => {
    const name = await newRoom(ada);
    const before = await app.services.db.room.count();
    for (const { token } of [ada, team.owner])
      expectError(await create(token, { name }), 409, 'Room name already taken');
    expectError(await create(team.owner.token, { name, workspace_id: team.id }), 409, 'Room name already taken');
    expect(await app.services.db.room.count()).toBe(before);
  });

  test.each([
    [{ scheduled_at: '1767225600' }, 'scheduled_at must be a number'],
    [{ scheduled_at: true }, 'scheduled_at must be a number'],
    [{ scheduled_at: 1767225600_000 }, 'scheduled_at must be in seconds'],
    [{ scheduled_at: Number.MAX_VALUE }, 'scheduled_at must be in seconds'],
    [{ accent_color: 'red' }, 'accent_color must be a hex color such as #6366f1'],
    [{ accent_color: 5 }, 'accent_color must be a string'],
    [{ waiting_room_enabled: 2 }, 'waiting_room_enabled must be 1 or 0'],
    [{ waiting_room_enabled: '1' }, 'waiting_room_enabled must be 1 or 0'],
    [{ waiting_room_message: 'x'.repeat(1001) }, 'waiting_room_message must have at most 1000 characters'],
    [
      { waiting_room_message: 'a\u0000' },
      'waiting_room_message must not contain control characters or invalid Unicode',
    ],
    [{ display_name: 'x'.repeat(101) }, 'display_name must have at most 100 characters'],
    [{ display_name: 7 }, 'display_name must be a string'],
    [{ session_id: 7 }, 'session_id must be a string'],
    [{ session_id: 'x'.repeat(201) }, 'session_id must have at most 200 characters'],
    [{ session_id: 'a\u0000' }, 'session_id must not contain control characters or invalid Unicode'],
    [{ workspace_id: '1' }, 'workspace_id must be a positive 32-bit integer'],
    [{ workspaceId: '1' }, 'workspaceId must be a positive 32-bit integer'],
    [{ workspace_id: 1, workspaceId: 2 }, 'workspaceId must equal workspace_id'],
  ])('%j is refused, on creation and on update', async (json, message) => {
    expectError(await create(ada.token, json), 400, message);
    if ('workspace_id' in json || 'workspaceId' in json) return;
    const path = `${ROOMS}/${await newRoom(ada)}`;
    const before = await app.http.get(path, ada.token);
    expectError(await app.http.patch(path, ada.token, json), 400, message);
    expect((await app.http.get(path, ada.token)).body).toEqual(before.body);
  });

  test('1e400 is not a finite number', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = '{"scheduled_at":1e400}';
    expectError(
      await app.http.call('POST', ROOMS, { token: ada.token, headers, body }),
      400,
      'scheduled_at must be a number',
    );
  });

  test.each([0, -1, 0.1, 1767225600.123, 1e11, -1.9099405950367927e93, Number.MIN_VALUE])(
    'scheduled_at %d comes back as it is',
    async (scheduled_at) => {
      const name = await newRoom(ada, { scheduled_at: 1 });
      expect((await app.http.patch(`${ROOMS}/${name}`, ada.token, { scheduled_at })).body.room.scheduled_at).toBe(
        scheduled_at,
      );
      const { body } = await create(ada.token, { scheduled_at });
      expect(body.room.scheduled_at).toBe(scheduled_at);
      const events = await app.services.db.event.findMany({ where: { type: 'room.created' } });
      expect(events.map(({ data }) => data)).toContainEqual(
        expect.objectContaining({ room_id: body.room.id, scheduled_at }),
      );
      expect((await app.http.get(`${ROOMS}/${name}`, ada.token)).body.room.scheduled_at).toBe(scheduled_at);
    },
  );

  test('true and false are accepted for 1 and 0', async () => {
    for (const [given, flag] of [
      [true, 1],
      [false, 0],
      [1, 1],
      [0, 0],
    ] as const) {
      const { body } = await create(ada.token, { waiting_room_enabled: given });
      expect(body.room.waiting_room_enabled).toBe(flag);
    }
  });

  test('read-only and unknown fields are ignored', async () => {
    const { body } = await create(ada.token, { id: 1, user_id: team.owner.id, created_at: 5, recording_count: 9 });
    expect(body.room).toMatchObject({ user_id: ada.id, recording_count: 0 });
    expect(body.room.created_at).toBeGreaterThan(5);
  });

  test('emits room.created with the room', async () => {
    const { body } = await create(team.admin.token, {
      workspace_id: team.id,
      display_name: 'Board',
      scheduled_at: 1.5,
    });
    const events = await app.services.db.event.findMany({ where: { workspaceId: team.id, type: 'room.created' } });
    expect(events.map(({ data }) => data)).toContainEqual({
      workspace_id: team.id,
      room_id: body.room.id,
      room_name: body.room.name,
      display_name: 'Board',
      created_by: team.admin.name,
      created_by_id: team.admin.id,
      scheduled_at: 1.5,
      created_at: body.room.created_at,
    });
  });

  test('a refused creation emits nothing', async () => {
    const before = await app.services.db.event.count();
    await create(team.admin.token, { name: 'ab', workspace_id: team.id });
    await create(team.member.token, { workspace_id: team.id });
    await create(team.member.token, { name: 'No' });
    expect(await app.services.db.event.count()).toBe(before);
  });
});

describe('access', () => {
  test('every operation requires a credential', async () => {
    for (const answer of [
      await create(undefined),
      await app.http.get(ROOMS),
      await app.http.get(`${ROOMS}/ab`),
      await app.http.patch(`${ROOMS}/ab`),
      await app.http.delete(`${ROOMS}/ab`),
      await app.http.get(`${team.path}/rooms`),
    ])
      expectError(answer, 401, 'Unauthorized');
  });

  test('the owner and admins of a workspace may create rooms; members and others may not', async () => {
    const input = { workspace_id: team.id };
    for (const { token, id } of [team.owner, team.admin])
      expect(await create(token, input)).toMatchObject({ status: 201, body: { room: { user_id: id, ...input } } });
    for (const { token } of [team.member, team.outsider]) expectError(await create(token, input), 403, 'Forbidden');
  });

  test('an unknown workspace: 404', async () => {
    expectError(await create(ada.token, { workspace_id: 2_147_483_647 }), 404, 'Workspace not found');
  });

  test('the Personal workspace of another user is refused like any other', async () => {
    expectError(await create(team.owner.token, { workspace_id: personalId }), 403, 'Forbidden');
  });

  test('a user who is demoted to member may read their rooms, and not change them', async () => {
    const { owner, member, id, path } = team;
    await owner.client.members.changeRole.mutate({ id, userId: member.id, role: 'admin' });
    const name = await newRoom(member, { workspace_id: id });
    const room = `${ROOMS}/${name}`;
    expect((await app.http.patch(room, member.token, { display_name: 'Mine' })).status).toBe(200);
    await owner.client.members.changeRole.mutate({ id, userId: member.id, role: 'member' });
    expectError(await app.http.patch(room, member.token, { display_name: 'Still mine' }), 403, 'Forbidden');
    expectError(await app.http.delete(room, member.token), 403, 'Forbidden');
    expect((await app.http.get(room, member.token)).body.room.display_name).toBe('Mine');
    expect((await app.http.get(`${path}/rooms`, member.token)).body.rooms).toContainEqual(
      expect.objectContaining({ name, user_id: member.id }),
    );
  });

  test("every operation returns the same 404 for another user's room and for an unknown one", async () => {
    const name = await newRoom(team.owner, { workspace_id: team.id });
    const unknown = [name, 'no-such-room', 'No Room', '%00', '%E2%98%83', 'x'.repeat(500)];
    for (const path of unknown.map((each) => `${ROOMS}/${each}`))
      for (const { token } of [team.member, team.outsider]) {
        expectError(await app.http.get(path, token), 404, 'Room not found');
        expectError(await app.http.patch(path, token, { display_name: 'X' }), 404, 'Room not found');
        expectError(await app.http.delete(path, token), 404, 'Room not found');
        expectError(await app.http.get(`${path}/recordings`, token), 404, 'Room not found');
      }
    expect((await app.http.get(`${ROOMS}/${name}`, team.owner.token)).status).toBe(200);
  });

  test('the owner and admins of the workspace read, change and delete all its rooms', async () => {
    for (const { token } of [team.owner, team.admin]) {
      const creator = token === team.owner.token ? team.admin : team.owner;
      const name = await newRoom(creator, { workspace_id: team.id });
      const path = `${ROOMS}/${name}`;
      expect((await app.http.get(path, token)).body.room).toMatchObject({ name, user_id: creator.id });
      expect((await app.http.get(`${path}/recordings`, token)).body).toEqual({ recordings: [] });
      const changed = await app.http.patch(path, token, { display_name: 'X' });
      expect(changed).toMatchObject({ status: 200, body: { room: { name, user_id: creator.id, display_name: 'X' } } });
      const { rooms } = (await app.http.get(ROOMS, token)).body;
      expect(rooms.map((room: { name: string }) => room.name)).not.toContain(name);
      expect((await app.http.delete(path, token)).status).toBe(200);
      expectError(await app.http.get(path, creator.token), 404, 'Room not found');
    }
  });
});

describe('updating', () => {
  test('changes only the fields that are sent, and never the name', async () => {
    const name = await newRoom(ada, { display_name: 'Before', scheduled_at: 5, waiting_room_enabled: 1 });
    const path = `${ROOMS}/${name}`;
    const before = (await app.http.get(path, ada.token)).body.room;
    expect((await app.http.patch(path, ada.token)).body.room).toEqual(before);
    const { body } = await app.http.patch(path, ada.token, {
      name: 'other',
      accent_color: '#ABCDEF',
      workspace_id: team.id,
    });
    expect(body.room).toEqual({ ...before, accent_color: '#ABCDEF' });
    const { room } = await ada.client.rooms.update.mutate({ name, waiting_room_enabled: false });
    expect(room).toEqual({ ...body.room, waiting_room_enabled: 0 });
  });

  test('clears nullable fields that are null', async () => {
    const name = await newRoom(ada, { display_name: 'X', scheduled_at: 5, waiting_room_message: 'Wait' });
    const cleared = { display_name: null, scheduled_at: null, waiting_room_message: null };
    const { body } = await app.http.patch(`${ROOMS}/${name}`, ada.token, cleared);
    expect(body.room).toMatchObject(cleared);
  });

  test('turns a blank display name into null', async () => {
    const name = await newRoom(ada, { display_name: 'X' });
    expect(
      (await app.http.patch(`${ROOMS}/${name}`, ada.token, { display_name: ' ' })).body.room.display_name,
    ).toBeNull();
  });
});

describe('deleting', () => {
  test('succeeds once, and the name can be used again', async () => {
    const name = await newRoom(ada);
    expect(await app.http.delete(`${ROOMS}/${name}`, ada.token)).toMatchObject({ status: 200, body: { ok: true } });
    expectError(await app.http.delete(`${ROOMS}/${name}`, ada.token), 404, 'Room not found');
    expect((await create(team.owner.token, { name })).status).toBe(201);
  });
});

describe('lists', () => {
  let own: number[];
  let lister: Person;
  beforeAll(async () => {
    lister = await addPerson(app, 'Lister');
    own = [];
    for (let index = 0; index < 5; index += 1) own.unshift((await create(lister.token)).body.room.id);
  });

  const idsOf = ({ body }: Answer): number[] => body.rooms.map(({ id }: { id: number }) => id);

  test('contain all rooms of the user, newest first', async () => {
    expect(idsOf(await app.http.get(ROOMS, lister.token))).toEqual(own);
    expect((await lister.client.rooms.list.query()).rooms.map(({ id }) => id)).toEqual(own);
  });

  test('return a page by limit and offset', async () => {
    expect(idsOf(await app.http.get(`${ROOMS}?limit=2`, lister.token))).toEqual(own.slice(0, 2));
    expect(idsOf(await app.http.get(`${ROOMS}?limit=2&offset=1`, lister.token))).toEqual(own.slice(1, 3));
    expect(idsOf(await app.http.get(`${ROOMS}?offset=4`, lister.token))).toEqual(own.slice(4));
    expect(idsOf(await app.http.get(`${ROOMS}?offset=2147483647`, lister.token))).toEqual([]);
  });

  test.each(['limit=0', 'limit=101', 'limit=a', 'offset=-1'])('%s: 400', async (query) => {
    expect((await app.http.get(`${ROOMS}?${query}`, lister.token)).status).toBe(400);
    expect((await app.http.get(`${team.path}/rooms?${query}`, team.member.token)).status).toBe(400);
  });

  test('contain all rooms of a workspace for its members', async () => {
    const { id, path, owner, admin, member, outsider } = await addTeam(app, 'Listed');
    const rooms = [await newRoom(owner, { workspace_id: id }), await newRoom(admin, { workspace_id: id })];
    await newRoom(admin);
    for (const { token } of [owner, admin, member]) {
      const { body } = await app.http.get(`${path}/rooms`, token);
      expect(body.rooms.map(({ name }: { name: string }) => name)).toEqual(rooms.toReversed());
    }
    expectError(await app.http.get(`${path}/rooms`, outsider.token), 403, 'Forbidden');
    expectError(await app.http.get('/api/workspaces/2147483647/rooms', owner.token), 404, 'Workspace not found');
    expect((await app.http.get(`${path}/rooms?limit=1&offset=1`, member.token)).body.rooms).toMatchObject([
      { name: rooms[0] },
    ]);
  });
});
