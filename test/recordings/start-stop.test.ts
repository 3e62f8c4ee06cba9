/** Starting and stopping recordings: access, events, and one at a time. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hashToken } from '../../src/auth/tokens.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { expireParticipants } from '../../src/features/participants/expire-participants.ts';
import { createReference } from '../../src/features/participants/participant-reference.ts';
import { genericEvent } from '../meeting-providers/adapters/callbacks.ts';
import { connect } from '../meeting-providers/ingest/connected-provider.ts';
import { addKey } from '../rooms/keys.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { eventsOf } from '../support/events.ts';
import type { Answer } from '../support/http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Person, type Team } from '../support/world.ts';
import { addGuest, advance, start as startAtProvider, uploadFile } from './recording-fixtures.ts';

const ROOMS = '/api/dashboard/rooms';

let app: TestApp;
let team: Team;
let room: { id: number; name: string };
beforeAll(async () => {
  app = await startTestApp();
});
beforeEach(async () => {
  team = await addTeam(app);
  room = (await app.http.post(ROOMS, team.admin.token, { workspace_id: team.id })).body.room;
});
afterAll(() => app.close());

function place() {
  return { workspaceId: team.id, roomId: room.id };
}
function start(token: string | undefined, json: object = {}) {
  return app.http.post(`${ROOMS}/${room.name}/recordings`, token, json);
}
function stop(token: string | undefined, id: number) {
  return app.http.post(`${ROOMS}/${room.name}/recordings/${id}/stop`, token);
}
function startInRoom(token: string, json: object = {}) {
  return app.http.post(`/api/rooms/${room.name}/recordings`, undefined, { token, ...json });
}
function stopInRoom(token: string, id: number) {
  return app.http.post(`/api/rooms/${room.name}/recordings/${id}/stop`, undefined, { token });
}

function expectError(answer: Answer, status: number, message: string): void {
  expect([answer.status, answer.body.message]).toEqual([status, message]);
}
const MEMBERS_RECORD = 'Only members of the workspace can record in this room';
const NOT_YOURS = 'Only the person who started the recording, and hosts of the room, can stop it';
const RUNNING = 'A recording is already running in this room';

describe('start', () => {
  test('returns the recording and its token, stores only the hash of the token, and emits one event', async () => {
    const { status, body } = await start(team.admin.token, { title: ' Kick-off ' });
    expect(status).toBe(200);
    const { recording, upload_token: token } = body;
    expect(recording).toEqual({
      id: expect.any(Number),
      room_id: room.id,
      room_name: room.name,
      archive_id: expect.stringMatching(/^rec_[0-9a-f]{32}$/),
      title: 'Kick-off',
      url: null,
      duration: 0,
      size: 0,
      status: 'started',
      failure_reason: null,
      poster_url: null,
      copy_error: null,
      is_abandoned: 0,
      created_at: expect.any(Number),
      ended_at: null,
    });
    expect(token).toMatch(/^lnr_[\w-]{43}$/);
    const row = await app.services.db.recording.findFirst({ where: place() });
    expect(row?.uploadTokenHash).toEqual(hashToken(token));
    const listed = await app.http.get(`${ROOMS}/${room.name}/recordings`, team.admin.token);
    expect(listed.body.recordings).toEqual([recording]);
    expect(JSON.stringify(listed.body)).not.toContain('lnr_');
    const { created_at, title, archive_id } = recording;
    const data = { workspace_id: team.id, room_id: room.id, room_name: room.name, recording_id: recording.id };
    const rest = { archive_id, title, duration: 0, size: 0, status: 'started', created_at };
    expect(await eventsOf(app, team.id, 'recording.started')).toEqual([
      { type: 'recording.started', data: { ...data, ...rest } },
    ]);
  });

  test('is allowed for the user of the room, the owner and admins; others get 404', async () => {
    const [ownKey, ownersKey] = [await addKey(app, team.id, team.admin), await addKey(app, team.id, team.owner)];
    for (const token of [team.admin.token, ownKey, team.owner.token, ownersKey]) {
      const { status, body } = await start(token);
      expect(status).toBe(200);
      expect((await stop(token, body.recording.id)).status).toBe(200);
    }
    const other = await addTeam(app);
    const foreignKey = await addKey(app, other.id, other.owner);
    for (const token of [team.member.token, team.outsider.token, foreignKey])
      expectError(await start(token), 404, 'Room not found');
    expectError(await start(undefined), 401, 'Unauthorized');
    for (const name of ['no-such-room', 'A', '%00'])
      expectError(await app.http.post(`${ROOMS}/${name}/recordings`, team.admin.token), 404, 'Room not found');
  });

  test('works with the typed client', async () => {
    const { recording } = await team.admin.client.recordings.start.mutate({ name: room.name, title: null });
    const input = { name: room.name, recordingId: recording.id };
    const stopped = await team.admin.client.recordings.stop.mutate(input);
    expect(stopped.recording.ended_at).toEqual(expect.any(Number));
  });

  test('accepts the id of a provider, whose reports then update the same recording', async () => {
    const { body } = await start(team.admin.token, { archive_id: ' archive-7 ', title: '  ' });
    expect(body.recording).toMatchObject({ archive_id: 'archive-7', title: null });
    expect(await startAtProvider(app, { ...place(), archiveId: 'archive-7' })).toBe(body.recording.id);
    expect(await eventsOf(app, team.id, 'recording.started')).toHaveLength(1);
    await stop(team.admin.token, body.recording.id);
    expectError(
      await start(team.admin.token, { archive_id: 'archive-7' }),
      409,
      'A recording with this archive_id already exists',
    );
  });

  test('is refused while a recording runs without a file; recordings of a provider do not count', async () => {
    await startAtProvider(app, { ...place(), archiveId: 'elsewhere' });
    const first = (await start(team.admin.token)).body;
    expectError(await start(team.admin.token), 409, RUNNING);
    await stop(team.admin.token, first.recording.id);
    const second = (await start(team.admin.token)).body;
    expect((await uploadFile(app, second.recording.id, second.upload_token)).status).toBe(200);
    expect((await start(team.admin.token)).status).toBe(200);
  });

  test('of twenty at once, one succeeds, with one event', async () => {
    const guest = await addGuest(app, place());
    const answers = await concurrently(20, (index) => (index % 2 ? start(team.admin.token) : startInRoom(guest)));
    expect(countStatuses(answers)).toEqual({ 200: 1, 409: 19 });
    expect(await eventsOf(app, team.id, 'recording.started')).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status === 409)) expectError(answer, 409, RUNNING);
  });

  test('a second running recording violates a constraint of the database', async () => {
    const now = app.clock.now();
    const row = { ...place(), status: 'started', createdAt: now, updatedAt: now };
    const rowOf = (name: string) => ({ ...row, archiveId: name, uploadTokenHash: hashToken(name) });
    await app.services.db.recording.create({ data: rowOf('one') });
    await expect(app.services.db.recording.create({ data: rowOf('two') })).rejects.toMatchObject({ code: 'P2002' });
  });

  test('while the room is deleted, creates a recording that is deleted with it, or gets 404', async () => {
    const [deleted, ...answers] = await Promise.all([
      app.http.delete(`${ROOMS}/${room.name}`, team.admin.token),
      ...Array.from({ length: 6 }, () => start(team.admin.token)),
    ]);
    expect(deleted.status).toBe(200);
    expect(Object.keys(countStatuses(answers)).filter((status) => !['200', '404', '409'].includes(status))).toEqual([]);
    expect(await app.services.db.recording.count({ where: place() })).toBe(0);
  });
});

describe('a participant', () => {
  test('who has joined may start and stop', async () => {
    const guest = await addGuest(app, place());
    const { status, body } = await startInRoom(guest, { title: 'From inside' });
    expect([status, body.recording.title, body.recording.status]).toEqual([200, 'From inside', 'started']);
    const stopped = await stopInRoom(guest, body.recording.id);
    expect([stopped.status, stopped.body.recording.ended_at]).toEqual([200, expect.any(Number)]);
    expect((await uploadFile(app, body.recording.id, body.upload_token)).status).toBe(200);
  });

  test.each(['waiting', 'refused', 'left'] as const)('with the status %s may not', async (status) => {
    const { recording } = (await start(team.admin.token)).body;
    const guest = await addGuest(app, place(), status);
    const message = 'Only participants who have joined can record';
    expectError(await startInRoom(guest), 403, message);
    expectError(await stopInRoom(guest, recording.id), 403, message);
    expect((await app.services.db.recording.findFirst({ where: place() }))?.endedAt).toBeNull();
  });

  test('without a valid token, or of another room, gets 404', async () => {
    const { body } = await app.http.post(ROOMS, team.admin.token, { workspace_id: team.id });
    const elsewhere = await addGuest(app, { workspaceId: team.id, roomId: body.room.id });
    for (const token of [elsewhere, `lnp_${'A'.repeat(43)}`, 'x', team.admin.token])
      expectError(await startInRoom(token), 404, 'Participant not found');
  });
});

describe('a recording whose starter has left', () => {
  const listed = async () =>
    (await app.http.get(`${ROOMS}/${room.name}/recordings`, team.admin.token)).body.recordings.map(
      ({ is_abandoned, ended_at }: { is_abandoned: number; ended_at: number | null }) => [
        is_abandoned === 1 ? 'abandoned' : 'not abandoned',
        ended_at === null ? 'running' : 'ended',
      ],
    );
  const leave = (token: string) => app.http.post(`/api/rooms/${room.name}/leave`, undefined, { token });

  test.each([
    ['another participant', (other: string) => startInRoom(other)],
    ["the room's user", () => start(team.admin.token)],
  ])('ends when %s starts the next one, and until then says that it is abandoned', async (_, startNext) => {
    const [starter, other] = [await addGuest(app, place()), await addGuest(app, place())];
    await startInRoom(starter);
    expect(await listed()).toEqual([['not abandoned', 'running']]);
    expectError(await startNext(other), 409, RUNNING);
    await leave(starter);
    expect(await listed()).toEqual([['abandoned', 'running']]);
    expect((await startNext(other)).status).toBe(200);
    expect(await listed()).toEqual([
      ['not abandoned', 'running'],
      ['not abandoned', 'ended'],
    ]);
  });

  const idOf = async () => (await app.services.db.participant.findFirstOrThrow({ where: place() })).id;
  const expire = async () => {
    app.clock.advance(10 * MINUTE_MS);
    await expireParticipants(app.services);
  };
  const reportLeave = async () => {
    const source = await connect(app, team, 'generic');
    const { sealer } = app.services;
    const report = { room: room.name, occurred_at: Math.ceil(app.clock.now().getTime() / SECOND_MS) };
    const reference = createReference(sealer, team.id, await idOf());
    for (const type of ['participant.joined', 'participant.left'])
      expect((await source.post(genericEvent(type, { reference }, report))).status).toBe(200);
  };
  test.each<[string, (token: string) => Promise<unknown>]>([
    ['leaves', leave],
    ['stops sending heartbeats', expire],
    [
      'is removed',
      async () => app.http.post(`${ROOMS}/${room.name}/participants/${await idOf()}/remove`, team.owner.token),
    ],
    ['leaves, as the meeting provider reports', reportLeave],
  ])('ends at once when the last person %s, and can still be uploaded', async (_, end) => {
    const starter = await addGuest(app, place());
    const { recording, upload_token } = (await startInRoom(starter)).body;
    await end(starter);
    expect(await listed()).toEqual([['not abandoned', 'ended']]);
    expect((await start(team.admin.token)).status).toBe(200);
    expect((await uploadFile(app, recording.id, upload_token)).body.recording.status).toBe('available');
  });

  test('ends when the last ones leave at the same time', async () => {
    const guests = await concurrently(6, () => addGuest(app, place()));
    await startInRoom(guests[0] ?? '');
    expect(countStatuses(await concurrently(6, (index) => leave(guests[index] ?? '')))).toEqual({ 200: 6 });
    expect(await listed()).toEqual([['not abandoned', 'ended']]);
  });

  test('does not count towards the recordings without a file, and can be stopped by a host', async () => {
    const other = await addGuest(app, place());
    for (let index = 0; index < 4; index += 1) {
      const starter = await addGuest(app, place());
      expect((await startInRoom(starter)).status).toBe(200);
      await leave(starter);
    }
    const [{ id }] = (await app.http.get(`${ROOMS}/${room.name}/recordings`, team.admin.token)).body.recordings;
    expect((await stop(team.owner.token, id)).body.recording).toMatchObject({
      is_abandoned: 0,
      ended_at: expect.any(Number),
    });
    expect((await startInRoom(other)).status).toBe(200);
  });

  test('goes on without an end while a user who started it is in no room', async () => {
    await start(team.admin.token);
    const guest = await addGuest(app, place());
    await leave(guest);
    expect(await listed()).toEqual([['not abandoned', 'running']]);
  });
});

/** Adds a stopped recording that a participant started, with or without its file. */
async function recordInRoom(token: string, hasFile: boolean) {
  const { status, body } = await startInRoom(token);
  expect(status).toBe(200);
  expect((await stopInRoom(token, body.recording.id)).status).toBe(200);
  if (hasFile) expect((await uploadFile(app, body.recording.id, body.upload_token)).status).toBe(200);
  return body as { recording: { id: number }; upload_token: string };
}

describe('participants may start', () => {
  const WAITING = 'Too many recordings of this room have no file yet: upload or delete one first';
  const TOO_MANY = 'Too many recordings in this room: try again later';
  const startedByParticipants = () =>
    app.services.db.recording.count({ where: { ...place(), startedBy: { not: null } } });

  test('no recording while 3 that participants started have no file, until one gets it or is deleted', async () => {
    const [guest, another] = [await addGuest(app, place()), await addGuest(app, place())];
    const first = await recordInRoom(guest, false);
    const second = await recordInRoom(another, false);
    await recordInRoom(guest, false);
    for (const token of [guest, another]) expectError(await startInRoom(token), 409, WAITING);
    expect(await startedByParticipants()).toBe(3);
    expect((await uploadFile(app, first.recording.id, first.upload_token)).status).toBe(200);
    await recordInRoom(another, false);
    expectError(await startInRoom(another), 409, WAITING);
    await app.http.delete(`/api/dashboard/recordings/${second.recording.id}`, team.admin.token);
    await recordInRoom(guest, false);
    expectError(await startInRoom(guest), 409, WAITING);
  });

  test('10 recordings an hour, with Retry-After until the first of them is an hour old', async () => {
    const guest = await addGuest(app, place());
    await recordInRoom(guest, true);
    app.clock.advance(20 * MINUTE_MS);
    for (let index = 1; index < 10; index += 1) await recordInRoom(guest, true);
    const refused = await startInRoom(await addGuest(app, place()));
    expectError(refused, 429, TOO_MANY);
    expect(refused.body.code).toBe('TOO_MANY_REQUESTS');
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(39 * 60);
    expect(seconds).toBeLessThanOrEqual(40 * 60);
    app.clock.advance(seconds * SECOND_MS);
    await recordInRoom(guest, true);
    expectError(await startInRoom(guest), 429, TOO_MANY);
  });

  test("recordings regardless of those of the room's user, of a provider, and of another room", async () => {
    const guest = await addGuest(app, place());
    for (let index = 0; index < 12; index += 1) {
      const { body } = await start(team.admin.token);
      expect((await stop(team.admin.token, body.recording.id)).status).toBe(200);
      await startAtProvider(app, { ...place(), archiveId: `provider-${index}` });
    }
    for (let index = 0; index < 3; index += 1) await recordInRoom(guest, false);
    expectError(await startInRoom(guest), 409, WAITING);
    expect((await start(team.admin.token)).status).toBe(200);
    const other = (await app.http.post(ROOMS, team.admin.token, { workspace_id: team.id })).body.room;
    const elsewhere = await addGuest(app, { workspaceId: team.id, roomId: other.id });
    expect((await app.http.post(`/api/rooms/${other.name}/recordings`, undefined, { token: elsewhere })).status).toBe(
      200,
    );
  });

  test('no more, but hosts and members in the room start regardless of what guests did, and do not count', async () => {
    const guest = await addGuest(app, place());
    const enter = async (session: string) =>
      (await app.http.post(`/api/rooms/${room.name}/join`, session)).body.participant.token;
    const [host, member] = [await enter(team.owner.token), await enter(team.member.token)];
    for (let index = 0; index < 4; index += 1) await recordInRoom(member, false);
    for (let index = 0; index < 3; index += 1) await recordInRoom(guest, false);
    expectError(await startInRoom(guest), 409, WAITING);
    for (const token of [host, member]) await recordInRoom(token, false);
    await app.services.db.recording.deleteMany({ where: place() });
    for (let index = 0; index < 10; index += 1) await recordInRoom(guest, true);
    expectError(await startInRoom(guest), 429, TOO_MANY);
    for (const token of [host, member]) await recordInRoom(token, false);
  });

  /** Three participants each try ten times at once, and stop what they have started. */
  const insist = async (guests: readonly string[], round: number) => {
    const guestOf = (index: number) => guests[(index + round) % guests.length] ?? '';
    const answers = await concurrently(10, (index) => startInRoom(guestOf(index)));
    for (const [index, { status, body }] of answers.entries())
      if (status === 200) expect((await stopInRoom(guestOf(index), body.recording.id)).status).toBe(200);
    return countStatuses(answers);
  };

  test('at most 3 recordings without a file, also with 10 starts at once by 3 participants', async () => {
    const guests = await concurrently(3, () => addGuest(app, place()));
    for (let round = 0; round < 3; round += 1) expect(await insist(guests, round)).toEqual({ 200: 1, 409: 9 });
    expect(await insist(guests, 3)).toEqual({ 409: 10 });
    expect(await startedByParticipants()).toBe(3);
  });

  test('at most 3 recordings without a file, also with concurrent starts and stops', async () => {
    const guests = await concurrently(3, () => addGuest(app, place()));
    for (let round = 0; round < 2; round += 1) {
      await concurrently(30, async (index) => {
        const { status, body } = await startInRoom(guests[index % 3] ?? '');
        if (status === 200) await stopInRoom(guests[index % 3] ?? '', body.recording.id);
      });
      expect(await startedByParticipants()).toBeLessThanOrEqual(3);
    }
  });

  test('at most 10 recordings an hour, also with 10 starts at once by 3 participants', async () => {
    const guests = await concurrently(3, () => addGuest(app, place()));
    for (const index of Array.from({ length: 9 }).keys()) await recordInRoom(guests[index % 3] ?? '', true);
    const first = await insist(guests, 0);
    expect(first[200]).toBe(1);
    expect(await insist(guests, 1)).toEqual({ 429: 10 });
    expect(await startedByParticipants()).toBe(10);
  });
});

describe('who may record', () => {
  const join = async (token?: string) =>
    (await app.http.post(`/api/rooms/${room.name}/join`, token, { name: 'X' })).body.participant.token;
  const set = (who_may_record: string) => app.http.patch(`${ROOMS}/${room.name}`, team.admin.token, { who_may_record });

  test.each([
    ['everyone', { guest: 200, user: 200, member: 200, host: 200, owner: 200 }],
    ['members', { guest: 403, user: 403, member: 200, host: 200, owner: 200 }],
    ['hosts', { guest: 403, user: 403, member: 403, host: 200, owner: 200 }],
  ])('%s', async (who, expected) => {
    await set(who);
    const tokens = {
      guest: await join(),
      user: await join(team.outsider.token),
      member: await join(team.member.token),
      host: await join(team.admin.token),
      owner: await join(team.owner.token),
    };
    const message = who === 'hosts' ? 'Only hosts can record in this room' : MEMBERS_RECORD;
    for (const [name, status] of Object.entries(expected)) {
      const token = tokens[name as keyof typeof tokens];
      const answer = await startInRoom(token);
      expect(answer.status, name).toBe(status);
      if (status === 403) expectError(answer, 403, message);
      else {
        const { recording, upload_token } = answer.body;
        expect((await stopInRoom(token, recording.id)).status).toBe(200);
        await uploadFile(app, recording.id, upload_token);
      }
    }
    // Outside of the room, only hosts record, whatever the setting.
    expect((await start(team.owner.token)).status).toBe(200);
  });

  test('a recording goes on, and its starter stops it, when the setting changes', async () => {
    const guest = await join();
    const { recording, upload_token } = (await startInRoom(guest)).body;
    await set('hosts');
    expect((await stopInRoom(guest, recording.id)).status).toBe(200);
    expect((await uploadFile(app, recording.id, upload_token)).status).toBe(200);
    expectError(await startInRoom(guest), 403, 'Only hosts can record in this room');
  });
});

describe('a participant can stop', () => {
  test('the running recording that they have started, and no other: 403', async () => {
    const [guest, another] = [await addGuest(app, place()), await addGuest(app, place())];
    const { recording } = (await startInRoom(guest)).body;
    expectError(await stopInRoom(another, recording.id), 403, NOT_YOURS);
    expect((await stopInRoom(guest, recording.id)).body.recording.ended_at).toEqual(expect.any(Number));
    const ofHost = (await start(team.admin.token)).body.recording;
    expectError(await stopInRoom(guest, ofHost.id), 403, NOT_YOURS);
    await stop(team.admin.token, ofHost.id);
    const atProvider = await startAtProvider(app, { ...place(), archiveId: 'elsewhere' });
    expectError(await stopInRoom(guest, atProvider), 403, NOT_YOURS);
    const where = { workspaceId: team.id, id: atProvider };
    expect((await app.services.db.recording.findFirst({ where }))?.endedAt).toBeNull();
  });

  test('every recording, if they are a host of the room', async () => {
    const join = async (token: string) =>
      (await app.http.post(`/api/rooms/${room.name}/join`, token, {})).body.participant.token;
    const guest = await addGuest(app, place());
    const member = await join(team.member.token);
    for (const { token } of [team.admin, team.owner]) {
      const { recording } = (await startInRoom(guest)).body;
      expectError(await stopInRoom(member, recording.id), 403, NOT_YOURS);
      const host = await join(token);
      const stopped = await stopInRoom(host, recording.id);
      expect(stopped.body.recording.ended_at).toEqual(expect.any(Number));
      expect((await stopInRoom(host, recording.id)).body).toEqual(stopped.body);
    }
  });

  test('their recording after they have left and joined again, with the token or as the same user', async () => {
    const join = async (json: object, token?: string) =>
      (await app.http.post(`/api/rooms/${room.name}/join`, token, json)).body.participant.token;
    const leave = (token: string) => app.http.post(`/api/rooms/${room.name}/leave`, undefined, { token });
    await addGuest(app, place());
    const guest = await join({ name: 'Gina' });
    const { recording } = (await startInRoom(guest)).body;
    await leave(guest);
    const back = await join({ name: 'Gina', token: guest });
    expectError(await stopInRoom(await join({ name: 'Gina' }), recording.id), 403, NOT_YOURS);
    expect((await stopInRoom(back, recording.id)).status).toBe(200);
    const user = await join({}, team.outsider.token);
    const second = (await startInRoom(user)).body.recording;
    await leave(user);
    expect((await stopInRoom(await join({}, team.outsider.token), second.id)).status).toBe(200);
  });

  test('no recording that is not running, unless they started it: 404, whatever its status', async () => {
    const [guest, another] = [await addGuest(app, place()), await addGuest(app, place())];
    const { recording } = (await start(team.admin.token, { title: 'Secret' })).body;
    await stop(team.admin.token, recording.id);
    const waiting = await recordInRoom(another, false);
    const available = await recordInRoom(another, true);
    const failed = await startAtProvider(app, { ...place(), archiveId: 'failed' });
    await advance(app, { ...place(), archiveId: 'failed' }, { status: 'failed' });
    const before = await app.services.db.recording.findMany({ where: place(), orderBy: { id: 'asc' } });
    for (const id of [recording.id, waiting.recording.id, available.recording.id, failed])
      expectError(await stopInRoom(guest, id), 404, 'Recording not found');
    expect(await app.services.db.recording.findMany({ where: place(), orderBy: { id: 'asc' } })).toEqual(before);
  });

  test('their own recording again, which changes nothing', async () => {
    const guest = await addGuest(app, place());
    const { recording } = (await startInRoom(guest)).body;
    const first = await stopInRoom(guest, recording.id);
    app.clock.advance(60_000);
    const again = await stopInRoom(guest, recording.id);
    expect([again.status, again.body]).toEqual([200, first.body]);
  });
});

describe('stop', () => {
  test('sets the end once, and changes nothing else', async () => {
    const { recording } = (await start(team.admin.token)).body;
    const first = await stop(team.admin.token, recording.id);
    expect(first.body.recording).toEqual({ ...recording, ended_at: expect.any(Number) });
    app.clock.advance(60_000);
    expect((await stop(team.admin.token, recording.id)).body).toEqual(first.body);
    expect(await eventsOf(app, team.id, 'recording.completed')).toEqual([]);
  });

  test('an unknown recording and one of another room get the same 404', async () => {
    const other = (await app.http.post(ROOMS, team.admin.token, { workspace_id: team.id })).body.room;
    const elsewhere = await startAtProvider(app, { workspaceId: team.id, roomId: other.id, archiveId: 'x' });
    const guest = await addGuest(app, place());
    for (const id of [elsewhere, 2_147_483_647]) {
      expectError(await stop(team.admin.token, id), 404, 'Recording not found');
      expectError(await stopInRoom(guest, id), 404, 'Recording not found');
    }
    const where = { workspaceId: team.id, id: elsewhere };
    expect((await app.services.db.recording.findFirst({ where }))?.endedAt).toBeNull();
  });

  test('a finished recording does not change', async () => {
    for (const status of ['available', 'failed'] as const) {
      const { recording } = (await start(team.admin.token, { archive_id: status })).body;
      const fileKey = 'v1/x';
      await advance(app, { ...place(), archiveId: status }, status === 'failed' ? { status } : { status, fileKey });
      const before = await app.services.db.recording.findFirst({ where: { ...place(), id: recording.id } });
      app.clock.advance(60_000);
      expect((await stop(team.admin.token, recording.id)).status).toBe(200);
      expect(await app.services.db.recording.findFirst({ where: { ...place(), id: recording.id } })).toEqual(before);
    }
  });

  test('is allowed for the hosts of the room only', async () => {
    const { recording } = (await start(team.admin.token)).body;
    const strangers: Person[] = [team.member, team.outsider];
    for (const { token } of strangers) expectError(await stop(token, recording.id), 404, 'Room not found');
    expectError(await stop(undefined, recording.id), 401, 'Unauthorized');
    expect((await stop(team.owner.token, recording.id)).body.recording.ended_at).not.toBeNull();
  });
});
