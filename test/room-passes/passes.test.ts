/** People whom a program lets into a room, by an id of its own. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { remove } from '../moderation/moderate.ts';
import {
  addGuest,
  addRoom,
  addWaitingRoom,
  expectError,
  HELD_AT,
  HELD_SECONDS,
  join,
  leave,
  list,
  presence,
  roomEvents,
  type TestRoom,
} from '../participants/rooms.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import type { Answer } from '../support/http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
let room: TestRoom;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: HELD_AT });
  team = await addTeam(app);
});
afterAll(() => app.close());
beforeEach(async () => {
  room = await addRoom(app, team, team.owner);
});

const metadata = { plan: 'pro', tags: ['a', 'ü'], deep: { n: 1.5, none: null } };

/** Makes a pass for a person. */
function make(json: object = {}, { name } = room, token = team.owner.token): Promise<Answer> {
  const person = { name: 'Vera Novak', external_id: 'patient-1', ...json };
  return app.http.post(`${team.path}/rooms/${name}/participants`, token, person);
}

function exchange(token: string, { name } = room): Promise<Answer> {
  return app.http.post(`/api/rooms/${name}/exchange`, undefined, { token });
}

async function enter(json: object = {}, inRoom = room) {
  const made = await make(json, inRoom);
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  const { status, body } = await exchange(made.body.token, inRoom);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.participant;
}

async function addKey(scopes: string[], by = team.owner.token): Promise<{ id: number; full_key: string }> {
  return (await app.http.post(`${team.path}/api-keys`, by, { name: 'Key', scopes })).body.apiKey;
}

describe('a pass', () => {
  test('is made with a link that works once, and is exchanged for a visit', async () => {
    const { body } = await make({ email: 'vera@example.com', may_record: 0, metadata });
    expect(body).toEqual({
      participant: {
        id: expect.any(Number),
        room_name: room.name,
        name: 'Vera Novak',
        email: 'vera@example.com',
        external_id: 'patient-1',
        is_host: 0,
        admitted: 0,
        may_record: 0,
        metadata,
        created_at: HELD_SECONDS,
        expires_at: HELD_SECONDS + 86_400,
      },
      token: expect.stringMatching(/^lnj_[\w-]{43}$/),
      join_url: `${app.url}/room/${room.name}#token=${body.token}`,
    });
    const { participant } = (await exchange(body.token)).body;
    expect(participant).toMatchObject({
      name: 'Vera Novak',
      status: 'joined',
      is_host: 0,
      is_member: 0,
      may_record: 0,
    });
    expect(participant).toMatchObject({ external_id: 'patient-1', metadata, token: expect.stringMatching(/^lnp_/) });
    expectError(await exchange(body.token), 404, 'Link not found');
  });

  test('is what the events, the lists and the meetings repeat', async () => {
    const visit = await enter({ email: 'vera@example.com', metadata });
    await leave(app, room.name, visit.token);
    const of = { external_id: 'patient-1', metadata };
    for (const type of ['room.joined', 'room.left'])
      expect(await roomEvents(app, team.id, room.id, type)).toEqual([expect.objectContaining(of)]);
    const { body } = await list(app, room.name, team.owner.token, '?status=left');
    expect(body.participants).toEqual([expect.objectContaining({ id: visit.id, email: 'vera@example.com', ...of })]);
    const { meetings } = (await app.http.get(`${team.path}/meetings?room=${room.name}`, team.owner.token)).body;
    expect(meetings[0].participants).toEqual([expect.objectContaining(of)]);
    const path = `${team.path}/meetings/${meetings[0].id}`;
    expect((await app.http.get(path, team.owner.token)).body.meeting.participants[0]).toMatchObject(of);
    const none = { external_id: null, metadata: null };
    expect((await app.http.get(path, team.member.token)).body.meeting.participants[0]).toMatchObject(none);
  });

  test('made again for the same external_id ends the unused link, and not the visit', async () => {
    const [first, second] = [(await make()).body, (await make({ name: 'Vera N.' })).body];
    expect(second.participant.id).toBe(first.participant.id);
    expectError(await exchange(first.token), 404, 'Link not found');
    const visit = (await exchange(second.token)).body.participant;
    const third = (await make()).body;
    expect((await presence(app, room.name, visit.token)).body.participant.status).toBe('joined');
    // A second page of the person is the same visit.
    expect((await exchange(third.token)).body.participant).toMatchObject({ id: visit.id, token: visit.token });
    expect(await roomEvents(app, team.id, room.id, 'room.joined')).toHaveLength(1);
    const other = await enter({}, await addRoom(app, team, team.owner));
    expect(other.id).not.toBe(visit.id);
  });

  test('lets one of 8 exchanges at once in', async () => {
    const { token } = (await make()).body;
    expect(countStatuses(await concurrently(8, () => exchange(token)))).toEqual({ 200: 1, 404: 7 });
  });

  test('has one present participant, however many pages come back at once', async () => {
    const visit = await enter();
    await leave(app, room.name, visit.token);
    const { token } = (await make()).body;
    const answers = await concurrently(9, (index) =>
      index === 0 ? exchange(token) : join(app, room.name, { token: visit.token }),
    );
    expect(countStatuses(answers)).toEqual({ 200: 9 });
    expect(new Set(answers.map(({ body }) => `${body.participant.id} ${body.participant.token}`)).size).toBe(1);
    const { participants } = (await list(app, room.name, team.owner.token)).body;
    expect(participants).toEqual([expect.objectContaining({ external_id: 'patient-1' })]);
  });

  test('is made once by 6 calls at once for an external_id', async () => {
    const made = await concurrently(6, () => make());
    expect(countStatuses(made)).toEqual({ 200: 6 });
    expect(new Set(made.map(({ body }) => body.participant.id)).size).toBe(1);
    const exchanged = await concurrently(6, (index) => exchange(made[index]?.body.token));
    expect(countStatuses(exchanged)).toEqual({ 200: 1, 404: 5 });
  });

  test('without an external_id is another person each time', async () => {
    const [one, two] = [await enter({ external_id: null }), await enter({ external_id: null })];
    expect(one.id).not.toBe(two.id);
    expect(one.external_id).toBeNull();
  });
});

describe('the passes of a room', () => {
  const path = (id?: number) => `${team.path}/rooms/${room.name}/passes${id === undefined ? '' : `/${id}`}`;
  const read = async (token = team.admin.token) => (await app.http.get(path(), token)).body.passes;

  test('are listed until they expire, and say whether they were used', async () => {
    const first = (await make({ email: 'vera@example.com', metadata })).body;
    await enter({ external_id: 'patient-2', expires_at: HELD_SECONDS + 60 });
    await enter({}, await addRoom(app, team, team.owner));
    const passes = await read();
    expect(passes).toEqual([
      { ...first.participant, is_used: 0, created_by: team.owner.id, created_by_name: 'Olive Owner' },
      expect.objectContaining({ external_id: 'patient-2', is_used: 1 }),
    ]);
    expect(JSON.stringify(passes)).not.toContain(first.token);
    app.clock.advance(60_000);
    const later = await read();
    app.clock.advance(-60_000);
    expect(later).toEqual(passes.slice(0, 1));
  });

  test('end unused when they are revoked, and can be made again', async () => {
    const { participant, token } = (await make()).body;
    expect((await app.http.delete(path(participant.id), team.admin.token)).body).toEqual({ ok: true });
    expectError(await exchange(token), 404, 'Link not found');
    expect(await read()).toEqual([]);
    expectError(await app.http.delete(path(participant.id), team.admin.token), 404, 'Pass not found');
    const { entries } = (await app.http.get(`${team.path}/audit?action=room.pass_revoked&limit=1`, team.owner.token))
      .body;
    expect(entries[0]).toMatchObject({ target: { name: room.name }, before: { pass_id: participant.id } });
    expect((await enter()).status).toBe('joined');
  });

  test('that were used end without the visit, which loses the rights of a host and does not come back', async () => {
    room = await addRoom(app, team, team.owner, { members_only: 1 });
    const visit = await enter({ is_host: 1, may_record: 0 });
    expect(visit.is_host).toBe(1);
    const [{ id }] = await read();
    expect((await app.http.delete(path(id), team.owner.token)).status).toBe(200);
    const still = (await presence(app, room.name, visit.token)).body.participant;
    // What the pass says about recording holds for as long as the visit.
    expect(still).toMatchObject({ status: 'joined', is_host: 0, may_record: 0 });
    const closed = await app.http.post(`/api/dashboard/rooms/${room.name}/close`, visit.token);
    expect(closed.status).toBe(403);
    await leave(app, room.name, visit.token);
    expectError(await join(app, room.name, { token: visit.token }), 400, 'name is required');
  });

  test('lead no one past the waiting room or the lock any more, by the token of the visit either', async () => {
    room = await addRoom(app, team, team.owner, { waiting_room_enabled: 1 });
    const visit = await enter({ admitted: 1 });
    expect(visit.status).toBe('joined');
    await leave(app, room.name, visit.token);
    const [{ id }] = await read();
    await app.http.delete(path(id), team.owner.token);
    const back = await join(app, room.name, { token: visit.token, name: 'Vera' });
    expect(back.body.participant).toMatchObject({ status: 'waiting' });
    expect((await app.http.post(`/api/dashboard/rooms/${room.name}/lock`, team.owner.token)).status).toBe(200);
    expect((await join(app, room.name, { token: visit.token, name: 'Vera' })).status).toBe(403);
  });

  test('are used or revoked, when both happen at once', async () => {
    const { participant, token } = (await make()).body;
    const [used] = await Promise.all([exchange(token), app.http.delete(path(participant.id), team.owner.token)]);
    expect([200, 404]).toContain(used.status);
    expect(await read()).toEqual([]);
    expectError(await exchange(token), 404, 'Link not found');
  });

  test('of another room or workspace are not found', async () => {
    const { participant } = (await make()).body;
    const other = await addRoom(app, team, team.owner);
    const elsewhere = `${team.path}/rooms/${other.name}/passes/${participant.id}`;
    expectError(await app.http.delete(elsewhere, team.owner.token), 404, 'Pass not found');
    const foreign = await addTeam(app);
    const inForeign = `${foreign.path}/rooms/${room.name}/passes`;
    expectError(await app.http.get(inForeign, foreign.owner.token), 404, 'Room not found');
    expectError(await app.http.delete(`${inForeign}/${participant.id}`, foreign.owner.token), 404, 'Room not found');
    expect(await read()).toHaveLength(1);
  });
});

describe('the own token', () => {
  test('returns after a reload and after leaving, without a name, until the pass expires', async () => {
    const visit = await enter({ metadata });
    expect((await join(app, room.name, { token: visit.token })).body.participant).toEqual(visit);
    await leave(app, room.name, visit.token);
    const again = (await join(app, room.name, { token: visit.token, name: 'Other' })).body.participant;
    expect(again).toMatchObject({ name: 'Vera Novak', external_id: 'patient-1', metadata, status: 'joined' });
    expect(again.id).not.toBe(visit.id);
    await leave(app, room.name, again.token);
    app.clock.advance(86_400_000);
    const late = await join(app, room.name, { token: again.token });
    app.clock.advance(-86_400_000);
    expectError(late, 400, 'name is required');
  });

  test('belongs to the person also in a browser in which somebody is signed in', async () => {
    const visit = await enter();
    const { participant } = (await join(app, room.name, { token: visit.token }, team.member.token)).body;
    expect(participant).toEqual(visit);
    await leave(app, room.name, visit.token);
    const again = (await join(app, room.name, { token: visit.token }, team.member.token)).body.participant;
    expect(again).toMatchObject({ name: 'Vera Novak', is_member: 0 });
  });
});

describe('the rights of a host by a pass', () => {
  /** Somebody who may make such a pass, and what ends that. */
  const endings = {
    'its maker is made a member': async () => {
      const { admin, owner, path } = await addTeam(app);
      return {
        path,
        owner,
        token: admin.token,
        end: () => app.http.patch(`${path}/members/${admin.id}`, owner.token, { role: 'member' }),
      };
    },
    'its maker is removed': async () => {
      const { admin, owner, path } = await addTeam(app);
      return {
        path,
        owner,
        token: admin.token,
        end: () => app.http.delete(`${path}/members/${admin.id}`, owner.token),
      };
    },
    'its key is deleted': async () => {
      const { owner, path } = await addTeam(app);
      const key = { name: 'Key', scopes: ['rooms:write'] };
      const { apiKey } = (await app.http.post(`${path}/api-keys`, owner.token, key)).body;
      return {
        path,
        owner,
        token: apiKey.full_key,
        end: () => app.http.delete(`${path}/api-keys/${apiKey.id}`, owner.token),
      };
    },
  };

  test.each(Object.entries(endings))('end once %s', async (_title, prepare) => {
    const { path, owner, token, end } = await prepare();
    const input = { workspace_id: Number(path.split('/').at(-1)), waiting_room_enabled: 1 };
    const { name } = (await app.http.post('/api/dashboard/rooms', owner.token, input)).body.room;
    const makePass = (person: string) =>
      app.http.post(`${path}/rooms/${name}/participants`, token, { name: person, is_host: 1 });
    const [first, second] = [await makePass('First'), await makePass('Second')];
    const visit = (await exchange(first.body.token, { id: 0, name })).body.participant;
    expect(visit).toMatchObject({ status: 'joined', is_host: 1 });
    expect((await end()).status).toBe(200);
    expect((await presence(app, name, visit.token)).body.participant.is_host).toBe(0);
    expect((await exchange(second.body.token, { id: 0, name })).body.participant).toMatchObject({
      status: 'waiting',
      is_host: 0,
    });
  });
});

describe('a room', () => {
  test('that is only for members admits people with a pass, and nobody else', async () => {
    room = await addRoom(app, team, team.owner, { members_only: 1 });
    expect((await enter()).status).toBe('joined');
    expect(await join(app, room.name, { name: 'Gina' })).toMatchObject({ status: 403, body: { code: 'MEMBERS_ONLY' } });
  });

  test('with a waiting room lets wait whom the pass does not admit', async () => {
    room = await addWaitingRoom(app, team, team.owner);
    expect((await enter()).status).toBe('waiting');
    expect((await enter({ external_id: 'b', admitted: 1 })).status).toBe('joined');
    expect((await enter({ external_id: 'c', is_host: 1 })).status).toBe('joined');
    // The pass admits them meanwhile.
    expect((await enter({ admitted: true })).status).toBe('joined');
  });

  test('that is locked keeps them out, and their link then still works', async () => {
    const { token } = (await make()).body;
    await app.http.post(`/api/dashboard/rooms/${room.name}/lock`, team.owner.token);
    expect(await exchange(token)).toMatchObject({ status: 403, body: { code: 'ROOM_LOCKED' } });
    await app.http.post(`/api/dashboard/rooms/${room.name}/unlock`, team.owner.token);
    expect((await exchange(token)).body.participant.status).toBe('joined');
  });

  test('that is full keeps them out', async () => {
    room = await addRoom(app, team, team.owner, { max_participants: 1 });
    await addGuest(app, room.name);
    const { token } = (await make()).body;
    expect(await exchange(token)).toMatchObject({ status: 409, body: { code: 'ROOM_FULL' } });
  });

  test('from which a host removed them lets them wait, with a new link and another name too', async () => {
    const visit = await enter({ admitted: 1 });
    await remove(app, room.name, visit.id, team.owner.token);
    expect((await presence(app, room.name, visit.token)).status).toBe(403);
    expect((await enter({ name: 'Other', admitted: 1 })).status).toBe('waiting');
    // Their name bars nobody who has a pass.
    expect((await enter({ external_id: 'b' })).status).toBe('joined');
  });

  test('lets nobody record whose pass forbade it and has ended since, with its maker or its person', async () => {
    const record = (token: string) => app.http.post(`/api/rooms/${room.name}/recordings`, undefined, { token });
    const pass = { may_record: 0, email: 'first@example.com' };
    const [{ body: made }, { body: host }] = [
      await make({ ...pass, is_host: 1 }, room, team.admin.token),
      await make({ external_id: 'b', may_record: 1 }, room, team.admin.token),
    ];
    const visits = [made, host].map(async ({ token }) => (await exchange(token)).body.participant.token);
    const [visit = '', allowed = ''] = await Promise.all(visits);
    expect((await app.http.delete('/api/auth/access', team.admin.token)).status).toBe(200);
    expect(await record(visit)).toMatchObject({ status: 403 });
    expect((await app.http.post(`/api/dashboard/rooms/${room.name}/close`, visit)).status).toBe(403);
    // What a pass allowed ends with it.
    await app.http.patch(`/api/dashboard/rooms/${room.name}`, team.owner.token, { who_may_record: 'hosts' });
    expect(await record(allowed)).toMatchObject({ status: 403 });

    room = await addRoom(app, team, team.owner);
    const other = await enter(pass);
    // The visit in progress keeps its own address.
    await make({ may_record: 0, email: 'second@example.com' });
    const erased = await app.http.post(`${team.path}/people/erase`, team.owner.token, { email: 'second@example.com' });
    expect(erased.body.erased).toMatchObject({ room_passes: 1, visits: 0 });
    expect((await presence(app, room.name, other.token)).body.participant.status).toBe('joined');
    expect(await record(other.token)).toMatchObject({ status: 403 });
    const again = await app.http.post(`${team.path}/people/erase`, team.owner.token, { email: 'second@example.com' });
    expect(again.body.erased).toMatchObject({ room_passes: 0 });
    const rows = await app.services.db.roomPass.findMany({ where: { name: '' } });
    expect(rows).toMatchObject([{ email: null, externalId: null, metadata: null, mayRecord: false }]);
  });

  test('takes what the pass says about recording before its own setting', async () => {
    const record = (token: string) => app.http.post(`/api/rooms/${room.name}/recordings`, undefined, { token });
    expect((await record((await enter({ may_record: 0 })).token)).status).toBe(403);
    room = await addRoom(app, team, team.owner, { who_may_record: 'hosts' });
    expect((await record((await enter({ external_id: 'b' })).token)).status).toBe(403);
    expect((await record((await enter({ external_id: 'c', may_record: 1 })).token)).status).toBe(200);
    // One recording runs at a time.
    expect((await record((await enter({ external_id: 'd', is_host: 1 })).token)).status).toBe(409);
  });
});

describe('making a pass', () => {
  test('is for owners and admins, and keys with rooms:write', async () => {
    expect((await make({}, room, team.admin.token)).status).toBe(200);
    expectError(await make({}, room, team.member.token), 403, 'Forbidden');
    expect((await make({}, room, (await addKey(['rooms:write'])).full_key)).status).toBe(200);
    expect((await make({}, room, (await addKey(['rooms:read', 'library:write'])).full_key)).body.code).toBe(
      'SCOPE_MISSING',
    );
    const ofMember = await addKey(['rooms:write'], team.member.token);
    expect(ofMember).toBeUndefined();
  });

  test.each([
    [{ name: ' ' }, 'Name is required'],
    [{ external_id: ' ' }, 'external_id must not be blank'],
    [{ external_id: 'x'.repeat(201) }, 'external_id must have at most 200 characters'],
    [{ is_host: 2 }, 'is_host must be 1 or 0'],
    [{ expires_at: HELD_SECONDS }, 'expires_at must be in the future'],
    [{ expires_at: HELD_SECONDS + 30 * 86_400 + 1 }, 'expires_at must be at most 30 days ahead'],
    [{ metadata: { text: 'x'.repeat(2_038) } }, 'metadata must have at most 2048 bytes of JSON'],
    [{ metadata: { text: 'a\u0000' } }, 'metadata must not contain NUL or invalid Unicode'],
    [{ metadata: { '\ud800': 1 } }, 'metadata must not contain NUL or invalid Unicode'],
  ])('with %j is rejected', async (json, message) => {
    expectError(await make(json), 400, message);
  });

  test('takes 2048 bytes of metadata, and a backslash before u0000', async () => {
    const large = { text: 'x'.repeat(2_037) };
    expect((await make({ metadata: large })).body.participant.metadata).toEqual(large);
    const escaped = { text: '\\u0000' };
    expect((await make({ metadata: escaped })).body.participant.metadata).toEqual(escaped);
  });

  test('is refused while a room has 5000 others, except for a person who has one', async () => {
    await make();
    await app.services.db.$executeRaw`
      insert into room_passes (workspace_id, room_id, name, created_at, expires_at)
      select ${team.id}, ${room.id}, 'Other', ${HELD_AT}, ${new Date(HELD_AT.getTime() + 60_000)}
      from generate_series(1, 5000)`;
    expectError(await make({ external_id: 'patient-2' }), 409, 'A room has at most 5000 passes that have not expired');
    expectError(await make({ external_id: undefined }), 409, 'A room has at most 5000 passes that have not expired');
    await app.services.db.$executeRaw`
      update room_passes set expires_at = ${HELD_AT} where id = (
        select max(id) from room_passes where workspace_id = ${team.id} and room_id = ${room.id})`;
    expect((await make()).status).toBe(200);
  });

  test('is recorded in the audit log', async () => {
    await make({ is_host: 1 });
    const { entries } = (await app.http.get(`${team.path}/audit?action=room.pass_created&limit=1`, team.owner.token))
      .body;
    expect(entries[0]).toMatchObject({ target: { name: room.name }, after: { is_host: 1, admitted: 0 } });
  });
});
