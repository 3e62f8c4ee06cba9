/** Who took part in meetings, who may see what of them, and the filters. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { pruneVisits } from '../../src/features/retention/prune-people.ts';
import { genericEvent } from '../meeting-providers/adapters/callbacks.ts';
import { connect } from '../meeting-providers/ingest/connected-provider.ts';
import { addGuest, addRoom, HELD_AT, HELD_SECONDS, join, leave, type TestRoom } from '../participants/rooms.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { addVisit, listMeetings, listPage, secondsAt, summarize } from './visits.ts';

let app: TestApp;
let team: Team;
let room: TestRoom;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: HELD_AT });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await addTeam(app);
  room = await addRoom(app, team, team.owner);
});

test('a user and a guest who come back are one participant with several visits', async () => {
  const { id: user } = team.member;
  const first = await addVisit(app, team, room.id, { name: 'Mia', userId: user, from: 0, to: 2 });
  const guest = await addVisit(app, team, room.id, { name: 'Gina', from: 1, to: 3 });
  const named = { name: 'Vera', email: 'Vera@Example.com ' };
  const vera = await addVisit(app, team, room.id, { ...named, from: 2, to: 4 });
  const second = await addVisit(app, team, room.id, { name: 'Mia again', userId: user, from: 5, to: 6 });
  const later = await addVisit(app, team, room.id, { name: 'Gina', firstVisitId: guest, from: 6, to: null });
  await addVisit(app, team, room.id, { name: 'VERA', email: 'vera@example.com', from: 7, to: 8 });
  // Somebody else with the address of another guest, and a stranger with the same name.
  await addVisit(app, team, room.id, { name: 'Not Vera', email: 'vera@example.com', from: 8, to: 9 });
  await addVisit(app, team, room.id, { name: 'Gina', from: 8, to: 9 });
  const [meeting] = await listMeetings(app, team, team.owner);
  expect(meeting?.participants.map(({ id, visit_count }) => [id, visit_count])).toEqual([
    [first, 2],
    [guest, 2],
    [vera, 2],
    [expect.any(Number), 1],
    [expect.any(Number), 1],
  ]);
  expect(meeting).toMatchObject({ id: first, participant_count: 5, peak: 3, ended_at: null });
  expect(meeting?.participants[0]).toEqual({
    id: first,
    name: 'Mia',
    user_id: user,
    email: null,
    contact_id: null,
    external_id: null,
    metadata: null,
    joined_at: secondsAt(0),
    left_at: secondsAt(6),
    visit_count: 2,
    visits: [
      { participant_id: first, joined_at: secondsAt(0), left_at: secondsAt(2) },
      { participant_id: second, joined_at: secondsAt(5), left_at: secondsAt(6) },
    ],
  });
  expect(meeting?.participants[1]).toMatchObject({
    left_at: null,
    visits: [{ participant_id: guest }, { participant_id: later, left_at: null }],
  });
});

test('somebody with two open visits counts once in the peak', async () => {
  await addVisit(app, team, room.id, { name: 'Vera', email: 'vera@example.com', from: 0, to: 9 });
  await addVisit(app, team, room.id, { name: 'Vera', email: 'vera@example.com', from: 1, to: 5 });
  await addVisit(app, team, room.id, { name: 'Walt', from: 5, to: 7 });
  expect(await listMeetings(app, team, team.owner)).toMatchObject([{ participant_count: 2, peak: 2 }]);
});

test('a list has the first participants and visits; reading the meeting, by any visit, has all in pages', async () => {
  const ids: number[] = [];
  for (let at = 0; at < 25; at += 1)
    ids.push(await addVisit(app, team, room.id, { name: `Guest ${at}`, from: at / 10, to: 30 }));
  for (let at = 0; at < 12; at += 1)
    await addVisit(app, team, room.id, { name: 'Guest 0', firstVisitId: ids[0] ?? 0, from: 10 + at, to: 11 + at });
  const [listed] = await listMeetings(app, team, team.member);
  expect([listed?.participant_count, listed?.participants.length]).toEqual([25, 20]);
  expect([listed?.participants[0]?.visit_count, listed?.participants[0]?.visits.length]).toEqual([13, 10]);
  const { client } = team.member;
  const names: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const read = { id: team.id, meetingId: ids[7] ?? 0, limit: 10, cursor };
    const { meeting, next_cursor } = await client.meetings.read.query(read);
    expect({ ...meeting, participants: [] }).toEqual({ ...listed, participants: [] });
    if (cursor === undefined) expect(meeting.participants[0]?.visits.length).toBe(13);
    names.push(...meeting.participants.map(({ name }) => name));
    cursor = next_cursor;
    if (cursor === undefined) break;
  }
  expect(names).toEqual(ids.map((_, at) => `Guest ${at}`));
});

describe('addresses', () => {
  test('are shown to hosts of the room, the owner and admins only, over both transports and with keys', async () => {
    const own = await addRoom(app, team, team.admin);
    await join(app, own.name, { name: 'Vera', email: 'vera@example.com' });
    await app.services.db.room.updateMany({ where: { id: own.id }, data: { userId: team.member.id } });
    await join(app, room.name, { name: 'Walt', email: 'walt@example.com' });
    const emails = async (by: Team['owner']) => {
      const rest = (await listMeetings(app, team, by)).flatMap(({ participants }) => participants);
      const { meetings } = await by.client.meetings.list.query({ id: team.id });
      expect(meetings.flatMap(({ participants }) => participants)).toEqual(rest);
      for (const { id, participants } of meetings)
        expect((await by.client.meetings.read.query({ id: team.id, meetingId: id })).meeting.participants).toEqual(
          participants,
        );
      return rest.map(({ name, email, contact_id }) => [name, email, contact_id !== null]).toSorted();
    };
    const all = [
      ['Vera', 'vera@example.com', true],
      ['Walt', 'walt@example.com', true],
    ];
    expect(await emails(team.owner)).toEqual(all);
    expect(await emails(team.admin)).toEqual(all);
    expect(await emails(team.member)).toEqual([all[0], ['Walt', null, false]]);
    const { apiKey } = await team.owner.client.apiKeys.create.mutate({
      id: team.id,
      name: 'Reader',
      scopes: ['rooms:read'],
    });
    const { meetings } = await createClient({ url: app.url, token: apiKey.full_key }).meetings.list.query({
      id: team.id,
    });
    expect(meetings.flatMap(({ participants }) => participants.map(({ email }) => email)).toSorted()).toEqual([
      'vera@example.com',
      'walt@example.com',
    ]);
  });

  test('find meetings only in rooms of which the caller is a host', async () => {
    await join(app, room.name, { name: 'Walt', email: 'Walt@Example.com' });
    const contact = await app.services.db.contact.findFirstOrThrow({ where: { workspaceId: team.id } });
    for (const query of [{ email: 'walt@example.com' }, { contact_id: contact.id }]) {
      expect(await listMeetings(app, team, team.owner, query)).toHaveLength(1);
      expect(await listMeetings(app, team, team.member, query)).toEqual([]);
      await app.services.db.room.updateMany({ where: { id: room.id }, data: { userId: team.member.id } });
      expect(await listMeetings(app, team, team.member, query)).toHaveLength(1);
      await app.services.db.room.updateMany({ where: { id: room.id }, data: { userId: team.owner.id } });
    }
    expect(await listMeetings(app, team, team.owner, { email: 'wal@example.com' })).toEqual([]);
  });
});

describe('filters', () => {
  test('by user and by name list the meetings that the person joined, by when they joined', async () => {
    const other = await addRoom(app, team, team.owner);
    const mia = { name: 'Mia', userId: team.member.id };
    await addVisit(app, team, room.id, { name: 'Host', from: 0, to: 200 });
    await addVisit(app, team, room.id, { ...mia, from: 150, to: 160 });
    await addVisit(app, team, room.id, { ...mia, from: 170, to: 180 });
    await addVisit(app, team, other.id, { ...mia, from: 100, to: 110 });
    await addVisit(app, team, other.id, { name: 'Host', from: 300, to: 310 });
    const expected = [
      { from: 0, to: 200, names: ['Host', 'Mia'] },
      { from: 100, to: 110, names: ['Mia'] },
    ];
    for (const filter of [{ user_id: team.member.id }, { search: 'mi' }, { search: 'M', user_id: team.member.id }]) {
      expect(summarize(await listMeetings(app, team, team.admin, filter))).toEqual(expected);
      const first = await listPage(app, team, team.admin, { ...filter, limit: 1 });
      const rest = await listPage(app, team, team.admin, { ...filter, limit: 1, cursor: first.next_cursor ?? '' });
      expect(summarize([...first.meetings, ...rest.meetings])).toEqual(expected);
      expect(rest.next_cursor).toBeUndefined();
      const inRoom = { ...filter, room: other.name };
      expect(summarize(await listMeetings(app, team, team.admin, inRoom))).toEqual(expected.slice(1));
      const late = { ...filter, from: secondsAt(101) };
      expect(summarize(await listMeetings(app, team, team.admin, late))).toEqual(expected.slice(0, 1));
    }
    expect(await listMeetings(app, team, team.admin, { search: 'zoe' })).toEqual([]);
    expect(await listMeetings(app, team, team.admin, { user_id: team.outsider.id })).toEqual([]);
  });

  test('by time select meetings by their beginning, and by room ignore rooms of other workspaces', async () => {
    await addVisit(app, team, room.id, { from: 0, to: 5 });
    await addVisit(app, team, room.id, { from: 20, to: 25 });
    const find = async (query: Record<string, string | number>) =>
      (await listMeetings(app, team, team.member, query)).map(({ started_at }) => started_at - HELD_SECONDS);
    expect(await find({ from: secondsAt(20) })).toEqual([1_200]);
    expect(await find({ to: secondsAt(20) })).toEqual([0]);
    expect(await find({ room: room.name.toUpperCase() })).toEqual([1_200, 0]);
    expect(await find({ room: 'no-such-room' })).toEqual([]);
    expect(await find({ room: 'not a name' })).toEqual([]);
    const stranger = await addTeam(app);
    expect(await listMeetings(app, stranger, stranger.owner, { room: room.name })).toEqual([]);
    expect(await listMeetings(app, stranger, stranger.owner)).toEqual([]);
  });
});

test('a meeting has its recordings, for those who may watch them', async () => {
  const host = await app.http.post(`/api/rooms/${room.name}/join`, team.owner.token, {});
  const { token } = host.body.participant;
  const { recording } = await team.owner.client.recordings.startInRoom.mutate({
    roomName: room.name,
    token,
    title: 'Kick-off',
  });
  await team.owner.client.recordings.stopInRoom.mutate({ roomName: room.name, token, recordingId: recording.id });
  await leave(app, room.name, token);
  await addVisit(app, team, room.id, { from: 100, to: 110 });
  const recordings = async (by: Team['owner']) =>
    (await listMeetings(app, team, by)).map((meeting) => meeting.recordings);
  expect(await recordings(team.owner)).toEqual([[], [{ id: recording.id, title: 'Kick-off', status: 'started' }]]);
  expect(await recordings(team.member)).toEqual(await recordings(team.owner));
  const settings = { name: room.name, recordings_visible_to: 'hosts' } as const;
  await team.owner.client.rooms.update.mutate(settings);
  expect(await recordings(team.member)).toEqual([[], []]);
  expect((await recordings(team.admin))[1]).toHaveLength(1);
  const { apiKey } = await team.owner.client.apiKeys.create.mutate({ id: team.id, name: 'R', scopes: ['rooms:read'] });
  const { meetings } = await createClient({ url: app.url, token: apiKey.full_key }).meetings.list.query({
    id: team.id,
  });
  expect(meetings.map((meeting) => meeting.recordings)).toEqual([[], []]);
});

describe('changes of the past', () => {
  test('a late report of a provider joins two meetings, which keep their IDs', async () => {
    const source = await connect(app, team, 'generic');
    const report = async (type: string, id: string, minutes: number) => {
      const fields = { room: room.name, occurred_at: secondsAt(minutes) };
      expect((await source.post(genericEvent(type, { id, name: `Person ${id}` }, fields))).status).toBe(200);
    };
    await report('participant.joined', 'a', -120);
    await report('participant.left', 'a', -110);
    await report('participant.joined', 'b', -90);
    await report('participant.left', 'b', -80);
    const before = await listMeetings(app, team, team.owner);
    expect(summarize(before)).toEqual([
      { from: -90, to: -80, names: ['Person b'] },
      { from: -120, to: -110, names: ['Person a'] },
    ]);
    await report('participant.joined', 'c', -115);
    await report('participant.left', 'c', -85);
    const [joined] = await listMeetings(app, team, team.owner);
    expect(joined && summarize([joined])).toEqual([
      { from: -120, to: -80, names: ['Person a', 'Person c', 'Person b'] },
    ]);
    for (const { id } of before) {
      const { meeting } = await team.owner.client.meetings.read.query({ id: team.id, meetingId: id });
      expect(meeting).toEqual(joined);
    }
  });

  test('erasing a person, and the retention of visits, remove them from meetings', async () => {
    await addVisit(app, team, room.id, { name: 'Old', from: -10_000, to: -9_990 });
    await addVisit(app, team, room.id, { name: 'Vera', email: 'vera@example.com', from: -60, to: -50 });
    await addVisit(app, team, room.id, { name: 'Walt', from: -55, to: -40 });
    const { services } = app;
    await pruneVisits({ ...services, settings: { ...services.settings, visitRetentionDays: 6 } });
    expect(summarize(await listMeetings(app, team, team.owner))).toEqual([
      { from: -60, to: -40, names: ['Vera', 'Walt'] },
    ]);
    await team.owner.client.people.erase.mutate({ id: team.id, email: 'vera@example.com' });
    expect(summarize(await listMeetings(app, team, team.owner))).toEqual([{ from: -55, to: -40, names: ['Walt'] }]);
  });

  test('a deleted room takes its meetings with it', async () => {
    const guest = await addGuest(app, room.name);
    await team.owner.client.rooms.delete.mutate({ name: room.name });
    expect(await listMeetings(app, team, team.owner)).toEqual([]);
    await expect(team.owner.client.meetings.read.query({ id: team.id, meetingId: guest.id })).rejects.toMatchObject({
      message: 'Meeting not found',
    });
  });
});
