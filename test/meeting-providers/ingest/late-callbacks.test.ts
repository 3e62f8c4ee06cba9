/** Callbacks that arrive after a deletion, after the room has another session, or without what belongs to them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pruneCallbacks } from '../../../src/features/meeting-providers/ingest/callback-store.ts';
import { MAX_UNMATCHED, pruneUnmatched } from '../../../src/features/meeting-providers/ingest/unmatched-callbacks.ts';
import { pruneDeletions } from '../../../src/features/recordings/recording-deletions.ts';
import { concurrently } from '../../support/concurrently.ts';
import { eventsOf } from '../../support/events.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import {
  genericEvent,
  livekitEvent,
  livekitParticipant,
  RECORDED_AT,
  vonageArchive,
  vonageConnection,
  vonageEmptyArchive,
} from '../adapters/callbacks.ts';
import { addRoom, connect, type Room, type Source } from './connected-provider.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const seconds = RECORDED_AT.getTime() / 1000;

let app: TestApp;
let team: Team;
let room: Room;
let session: string;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await addTeam(app);
  session = `session ${team.id}`;
  room = await addRoom(app, team, session);
});

async function post(source: Source, callback: object): Promise<void> {
  expect((await source.post(callback)).status).toBe(200);
}

async function recordingsOf({ name }: Room) {
  const { status, body } = await app.http.get(`/api/dashboard/rooms/${name}/recordings`, team.owner.token);
  expect(status).toBe(200);
  return body.recordings;
}

async function participantsOf({ name }: Room, status: string) {
  const path = `/api/dashboard/rooms/${name}/participants?status=${status}`;
  return (await app.http.get(path, team.owner.token)).body.participants;
}

async function unmatchedOf({ id }: Source, query = '') {
  const { status, body } = await app.http.get(`${team.path}/connections/${id}/unmatched${query}`, team.owner.token);
  expect(status).toBe(200);
  return body.unmatched;
}

async function typesOf(): Promise<string[]> {
  return (await eventsOf(app, team.id)).map(({ type }) => type).filter((type) => /^room\.[jl]|^recording/.test(type));
}

function deleteRecording(id: number) {
  return app.http.delete(`/api/dashboard/recordings/${id}`, team.owner.token);
}

function moveRoom(sessionId: string, { name } = room) {
  return app.http.patch(`/api/dashboard/rooms/${name}`, team.owner.token, { session_id: sessionId });
}

describe('a deleted recording does not return', () => {
  let generic: Source;
  beforeEach(async () => {
    generic = await connect(app, team, 'generic');
    await post(generic, genericEvent('recording.started', {}, { room: room.name }));
  });
  const available = (source = generic) =>
    post(source, genericEvent('recording.available', { url: `${app.url}/a.mp4` }, { room: room.name }));

  const expectNothing = async (inRoom = room) => {
    expect(await recordingsOf(inRoom)).toEqual([]);
    expect(await typesOf()).toEqual(['recording.started']);
    expect(await app.services.db.recordingCopy.count({ where: { workspaceId: team.id } })).toBe(0);
    expect(await unmatchedOf(generic)).toEqual([]);
  };

  test('by a later callback of any kind, whose file is not copied', async () => {
    const [{ id }] = await recordingsOf(room);
    expect((await deleteRecording(id)).status).toBe(200);
    await available();
    for (const type of ['recording.started', 'recording.ended', 'recording.uploaded', 'recording.failed'])
      await post(generic, genericEvent(type, {}, { room: room.name }));
    await expectNothing();
  });

  test('by a callback of another connection', async () => {
    const [{ id }] = await recordingsOf(room);
    await deleteRecording(id);
    await available(await connect(app, team, 'generic'));
    await expectNothing();
  });

  test('in a new room with the name of the deleted room', async () => {
    expect((await app.http.delete(`/api/dashboard/rooms/${room.name}`, team.owner.token)).status).toBe(200);
    await available();
    expect(await typesOf()).toEqual(['recording.started']);
    const input = { name: room.name, workspace_id: team.id };
    expect((await app.http.post('/api/dashboard/rooms', team.owner.token, input)).status).toBe(201);
    await available();
    await expectNothing();
  });

  test('by callbacks that arrive while it is deleted', async () => {
    const [{ id }] = await recordingsOf(room);
    const [deleted] = await Promise.all([deleteRecording(id), ...Array.from({ length: 10 }, () => available())]);
    expect(deleted?.status).toBe(200);
    await available();
    await expectNothing();
  });

  test('by the callback of Vonage about its expiry, also after the room has another session', async () => {
    const vonage = await connect(app, team, 'vonage');
    const of = (status: string) => vonageEmptyArchive(status, { sessionId: session, id: 'archive-1' });
    await post(vonage, of('started'));
    for (const { id } of await recordingsOf(room)) await deleteRecording(id);
    await post(vonage, of('failed'));
    await moveRoom(`next ${session}`);
    await post(vonage, of('expired'));
    expect(await recordingsOf(room)).toEqual([]);
    expect(await typesOf()).toEqual(['recording.started', 'recording.started']);
    expect(await unmatchedOf(vonage)).toEqual([]);
  });

  test('but a recording of another room with the same id is another one', async () => {
    const other = await addRoom(app, team);
    const [{ id }] = await recordingsOf(room);
    await deleteRecording(id);
    await post(generic, genericEvent('recording.started', {}, { room: other.name }));
    expect(await recordingsOf(other)).toHaveLength(1);
  });

  test('unless a user starts a recording with its archive_id again', async () => {
    const [{ id, archive_id }] = await recordingsOf(room);
    await deleteRecording(id);
    const path = `/api/dashboard/rooms/${room.name}/recordings`;
    expect((await app.http.post(path, team.owner.token, { archive_id })).status).toBe(200);
    await post(generic, genericEvent('recording.ended', { duration: 5 }, { room: room.name }));
    expect(await recordingsOf(room)).toMatchObject([{ archive_id, duration: 5 }]);
  });

  test('for 90 days; and a deleted workspace leaves nothing behind', async () => {
    const { db } = app.services;
    const remembered = () => db.recordingDeletion.count({ where: { workspaceId: team.id } });
    const [{ id }] = await recordingsOf(room);
    await deleteRecording(id);
    app.clock.advance(90 * DAY_MS - 60_000);
    await pruneDeletions(app.services);
    expect(await remembered()).toBe(1);
    app.clock.advance(120_000);
    await pruneDeletions(app.services);
    expect(await remembered()).toBe(0);
    app.clock.advance(-90 * DAY_MS - 60_000);
    await available();
    expect(await app.http.delete(team.path, team.owner.token)).toMatchObject({ status: 200 });
    expect(await remembered()).toBe(0);
  });
});

describe('after the room has another session', () => {
  let vonage: Source;
  beforeEach(async () => {
    vonage = await connect(app, team, 'vonage');
  });
  const archive = (status: string) => vonageEmptyArchive(status, { sessionId: session });
  const connection = (event: string, id: string, at = 0) =>
    vonageConnection(event, { sessionId: session, timestamp: RECORDED_AT.getTime() + at }, { id, data: id });

  test.each([
    ['no room has the previous one', async () => {}],
    ['another room has the previous one', async () => void (await moveRoom(session, await addRoom(app, team)))],
  ])('callbacks of the previous one still count for its recordings and participants (%s)', async (_, takeOver) => {
    await post(vonage, connection('connectionCreated', 'a'));
    await post(vonage, archive('started'));
    expect((await moveRoom(`next ${session}`)).status).toBe(200);
    await takeOver();
    await post(vonage, connection('connectionDestroyed', 'a', 60_000));
    await post(vonage, { ...archive('stopped'), duration: 60 });
    await post(vonage, vonageArchive({ sessionId: session, url: `${app.url}/a.mp4` }));
    expect(await participantsOf(room, 'joined')).toEqual([]);
    expect(await participantsOf(room, 'left')).toMatchObject([{ name: 'a', left_at: seconds + 60 }]);
    expect(await recordingsOf(room)).toMatchObject([{ status: 'uploaded', duration: 328 }]);
    expect(await app.services.db.recordingCopy.count({ where: { workspaceId: team.id } })).toBe(1);
    expect(await typesOf()).toEqual(['room.joined', 'recording.started', 'room.left']);
    expect(await app.services.db.recording.count({ where: { workspaceId: team.id } })).toBe(1);
    expect(await unmatchedOf(vonage)).toEqual([]);
  });

  test('a participant who joined here is found by their token', async () => {
    const { body } = await app.http.post(`/api/rooms/${room.name}/join`, undefined, { name: 'Vera' });
    await moveRoom(`next ${session}`);
    const data = JSON.stringify({ participant_token: body.participant.token });
    await post(vonage, vonageConnection('connectionCreated', { sessionId: session }, { id: 'a', data }));
    await post(vonage, connection('connectionDestroyed', 'a', 60_000));
    expect(await participantsOf(room, 'left')).toMatchObject([{ name: 'Vera' }]);
    expect(await typesOf()).toEqual(['room.joined', 'room.left']);
  });

  test('what is new in the previous one matches nothing, and the owner sees it', async () => {
    await moveRoom(`next ${session}`);
    await post(vonage, connection('connectionCreated', 'late'));
    await post(vonage, archive('started'));
    expect(await typesOf()).toEqual([]);
    const common = { room: null, session_id: session, reason: 'unknown_room', received_at: expect.any(Number) };
    const ids = { participant_id: null, archive_id: null, occurred_at: seconds };
    expect(await unmatchedOf(vonage)).toMatchObject([
      { ...common, ...ids, event: 'recording.started', archive_id: vonageArchive().id },
      { ...common, ...ids, event: 'participant.joined', participant_id: 'late' },
    ]);
  });
});

describe('callbacks that match nothing', () => {
  let generic: Source;
  const joined = (id: string) => genericEvent('participant.joined', { id }, { room: 'nobody-has-this' });
  beforeEach(async () => {
    generic = await connect(app, team, 'generic');
  });

  test('are listed a page at a time, newest first, and once however often they are repeated', async () => {
    for (const id of ['1', '2', '3', '1']) await post(generic, joined(id));
    const idsOf = async (query: string) =>
      (await unmatchedOf(generic, query)).map(({ participant_id: id }: { participant_id: string }) => id);
    expect(await idsOf('')).toEqual(['3', '2', '1']);
    expect(await idsOf('?limit=1&offset=1')).toEqual(['2']);
    expect(await unmatchedOf(generic, '?limit=1')).toMatchObject([{ room: 'nobody-has-this', session_id: null }]);
  });

  test('are at most 1,000 of a connection, the newest ones, and those of others stay', async () => {
    const other = await connect(app, team, 'generic');
    await post(other, joined('of another connection'));
    const row = { workspaceId: team.id, connectionId: generic.id, kind: 'participant.joined', meeting: 'x' };
    const more = { reason: 'unknown_room', occurredAt: RECORDED_AT, receivedAt: app.clock.now() };
    const data = Array.from({ length: MAX_UNMATCHED + 5 }, (_, index) => ({ ...row, ...more, reference: `${index}` }));
    await app.services.db.unmatchedCallback.createMany({ data });
    await concurrently(3, (index) => post(generic, joined(`new ${index}`)));
    const where = { workspaceId: team.id, connectionId: generic.id };
    expect(await app.services.db.unmatchedCallback.count({ where })).toBe(MAX_UNMATCHED);
    expect(await unmatchedOf(generic, '?limit=3')).toMatchObject(Array(3).fill({ room: 'nobody-has-this' }));
    expect(await unmatchedOf(other)).toHaveLength(1);
  });

  test('are deleted after 30 days', async () => {
    await post(generic, joined('1'));
    const stored = () => app.services.db.unmatchedCallback.count({ where: { workspaceId: team.id } });
    app.clock.advance(30 * DAY_MS - 60_000);
    await pruneUnmatched(app.services);
    expect(await stored()).toBe(1);
    app.clock.advance(120_000);
    await pruneUnmatched(app.services);
    expect(await stored()).toBe(0);
    app.clock.advance(-30 * DAY_MS - 60_000);
  });

  test('are for the owner of the workspace, and gone with their connection', async () => {
    await post(generic, joined('1'));
    const path = `${team.path}/connections/${generic.id}`;
    expect((await app.http.get(`${path}/unmatched`, team.admin.token)).status).toBe(403);
    expect((await app.http.delete(path, team.owner.token)).status).toBe(200);
    expect((await app.http.get(`${path}/unmatched`, team.owner.token)).status).toBe(404);
    expect(await app.services.db.unmatchedCallback.count({ where: { workspaceId: team.id } })).toBe(0);
  });

  test('a leave without a join leaves no guest, and its join takes it from the list', async () => {
    const visit = { room: room.name };
    await post(generic, genericEvent('participant.left', {}, { ...visit, occurred_at: seconds + 60 }));
    for (const status of ['waiting', 'joined', 'left']) expect(await participantsOf(room, status)).toEqual([]);
    expect(await typesOf()).toEqual([]);
    expect(await unmatchedOf(generic)).toMatchObject([
      { event: 'participant.left', reason: 'unknown_participant', room: room.name, participant_id: 'connection-1' },
    ]);
    await post(generic, genericEvent('participant.joined', { name: 'Grace' }, visit));
    expect(await participantsOf(room, 'left')).toMatchObject([{ name: 'Grace', left_at: seconds + 60 }]);
    expect(await typesOf()).toEqual(['room.joined', 'room.left']);
    expect(await unmatchedOf(generic)).toEqual([]);
  });
});

describe('the end of a meeting', () => {
  const atSeconds = (after: number) => ({ createdAt: String(seconds + after) });
  let livekit: Source;
  let events = 0;
  const id = () => {
    events += 1;
    return { id: `EV_${events}` };
  };
  const person = (event: string, sid: string, after = 0) =>
    livekitParticipant(event, { sid, name: sid }, { ...atSeconds(after), ...id(), room: { name: room.name } });
  const finished = (after: number, name = room.name) =>
    livekitEvent('room_finished', { ...atSeconds(after), ...id(), room: { name, sid: 'RM_1' } });
  beforeEach(async () => {
    livekit = await connect(app, team, 'livekit');
  });

  test('at LiveKit ends all presences of its room at its time, with one room.left each', async () => {
    for (const sid of ['PA_1', 'PA_2', 'PA_3']) await post(livekit, person('participant_joined', sid));
    await post(livekit, person('participant_left', 'PA_3', 30));
    await concurrently(5, () => post(livekit, finished(90)));
    await post(livekit, person('participant_left', 'PA_1', 91));
    expect(await participantsOf(room, 'joined')).toEqual([]);
    const left = await participantsOf(room, 'left');
    expect(Object.fromEntries(left.map((one: { name: string; left_at: number }) => [one.name, one.left_at]))).toEqual({
      PA_1: seconds + 90,
      PA_2: seconds + 90,
      PA_3: seconds + 30,
    });
    expect((await eventsOf(app, team.id, 'room.left')).map(({ data }) => data)).toMatchObject([
      { participant_name: 'PA_3', left_at: seconds + 30 },
      { participant_name: 'PA_1', left_at: seconds + 90 },
      { participant_name: 'PA_2', left_at: seconds + 90 },
    ]);
  });

  test('leaves those who joined the next meeting, who joined here, and who are in another room', async () => {
    const other = await addRoom(app, team);
    const name = (sid: string) => ({ ...id(), ...atSeconds(0), room: { name: other.name }, sid });
    await post(livekit, livekitParticipant('participant_joined', { sid: 'PA_1' }, name('PA_1')));
    await post(livekit, person('participant_joined', 'PA_2', 120));
    await app.http.post(`/api/rooms/${room.name}/join`, undefined, { name: 'Vera' });
    await post(livekit, finished(90));
    expect(await participantsOf(room, 'joined')).toHaveLength(2);
    expect(await participantsOf(other, 'joined')).toHaveLength(1);
    expect(await eventsOf(app, team.id, 'room.left')).toEqual([]);
  });

  test('also ends the presence of a join that arrives after it, for a week', async () => {
    await post(livekit, finished(90));
    await post(livekit, person('participant_joined', 'PA_1', 10));
    await post(livekit, person('participant_joined', 'PA_2', 100));
    expect(await participantsOf(room, 'left')).toMatchObject([
      { name: 'PA_1', joined_at: seconds + 10, left_at: seconds + 90 },
    ]);
    expect(await participantsOf(room, 'joined')).toMatchObject([{ name: 'PA_2' }]);
    expect(await typesOf()).toEqual(['room.joined', 'room.left', 'room.joined']);
    expect(await unmatchedOf(livekit)).toEqual([]);
    await pruneCallbacks(app.services);
    expect(await app.services.db.meetingEnd.count({ where: { workspaceId: team.id } })).toBe(0);
  });

  test('in an unknown room is listed', async () => {
    await post(livekit, finished(90, 'nobody-has-this'));
    expect(await unmatchedOf(livekit)).toMatchObject([
      { event: 'meeting.ended', room: 'nobody-has-this', participant_id: null, archive_id: null },
    ]);
  });

  test('at Vonage ends the presences of its session, also after the room has another one', async () => {
    const vonage = await connect(app, team, 'vonage');
    const of = (sessionId: string, name: string) =>
      post(vonage, vonageConnection('connectionCreated', { sessionId }, { id: name, data: name }));
    await of(session, 'a');
    await moveRoom(`next ${session}`);
    await of(`next ${session}`, 'b');
    const timestamp = RECORDED_AT.getTime() + 90_000;
    await post(vonage, { event: 'sessionDestroyed', sessionId: session, projectId: '123456', timestamp });
    expect(await participantsOf(room, 'left')).toMatchObject([{ name: 'a', left_at: seconds + 90 }]);
    expect(await participantsOf(room, 'joined')).toMatchObject([{ name: 'b' }]);
  });
});
