/** When meetings begin and end, and how many people were present. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toUnixSeconds } from '../../src/core/time.ts';
import { addGuest, addRoom, HELD_AT, HELD_SECONDS, leave } from '../participants/rooms.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { addVisit, listMeetings, listPage, summarize, toRow } from './visits.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: HELD_AT });
  team = await addTeam(app);
});
afterAll(() => app.close());

test('ten minutes without anybody separate two meetings; a millisecond less does not', async () => {
  const room = await addRoom(app, team, team.owner);
  await addVisit(app, team, room.id, { name: 'Ann', from: 0, to: 5 });
  await addVisit(app, team, room.id, { name: 'Bob', from: 15, to: 20 });
  await addVisit(app, team, room.id, { name: 'Cid', from: 30 - 1 / 60_000, to: 40 });
  const meetings = await listMeetings(app, team, team.member, { room: room.name });
  expect(summarize(meetings)).toEqual([
    { from: 15, to: 40, names: ['Bob', 'Cid'] },
    { from: 0, to: 5, names: ['Ann'] },
  ]);
});

test('a long visit holds a meeting together in which others come and go', async () => {
  const room = await addRoom(app, team, team.owner);
  await addVisit(app, team, room.id, { name: 'Ann', from: 0, to: 100 });
  await addVisit(app, team, room.id, { name: 'Bob', from: 5, to: 10 });
  await addVisit(app, team, room.id, { name: 'Cid', from: 60, to: 70 });
  await addVisit(app, team, room.id, { name: 'Dan', from: 109, to: 111 });
  const meetings = await listMeetings(app, team, team.member, { room: room.name });
  expect(summarize(meetings)).toEqual([{ from: 0, to: 111, names: ['Ann', 'Bob', 'Cid', 'Dan'] }]);
  expect(meetings).toMatchObject([{ participant_count: 4, peak: 2 }]);
});

test('a meeting runs until the last leave, and continues within ten minutes', async () => {
  const room = await addRoom(app, team, team.owner);
  const ann = await addGuest(app, room.name, { name: 'Ann' });
  const read = () => listMeetings(app, team, team.member, { room: room.name });
  const [begun] = await read();
  expect(begun).toMatchObject({ id: ann.id, started_at: HELD_SECONDS, ended_at: null, participant_count: 1, peak: 1 });
  app.clock.advance(60_000);
  await leave(app, room.name, ann.token);
  expect(await read()).toMatchObject([{ id: ann.id, ended_at: HELD_SECONDS + 60 }]);
  app.clock.advance(9 * 60_000);
  const bob = await addGuest(app, room.name, { name: 'Bob' });
  expect(await read()).toMatchObject([{ id: ann.id, ended_at: null, participant_count: 2, peak: 1 }]);
  await leave(app, room.name, bob.token);
  app.clock.advance(10 * 60_000);
  const cid = await addGuest(app, room.name, { name: 'Cid' });
  expect(await read()).toMatchObject([
    { id: cid.id, started_at: toUnixSeconds(app.clock.now()), ended_at: null },
    { id: ann.id, ended_at: HELD_SECONDS + 600 },
  ]);
});

test('who only waited or was refused is in no meeting; who was removed is', async () => {
  const room = await addRoom(app, team, team.owner, { waiting_room_enabled: 1 });
  await addGuest(app, room.name, { name: 'Waits' });
  const refused = await addGuest(app, room.name, { name: 'Refused' });
  const removed = await addGuest(app, room.name, { name: 'Removed' });
  expect(await listMeetings(app, team, team.member, { room: room.name })).toEqual([]);
  const { client } = team.owner;
  await client.participants.refuse.mutate({ name: room.name, participantId: refused.id });
  await client.participants.admit.mutate({ name: room.name, participantId: removed.id });
  await client.participants.remove.mutate({ name: room.name, participantId: removed.id });
  const meetings = await listMeetings(app, team, team.member, { room: room.name });
  expect(meetings).toMatchObject([{ id: removed.id, participant_count: 1, peak: 1 }]);
  expect(meetings[0]?.ended_at).toBe(meetings[0]?.started_at);
});

test('two people who join a room at the same moment are in one meeting', async () => {
  const room = await addRoom(app, team, team.owner);
  const ids = await Promise.all(
    ['Ann', 'Bob', 'Cid'].map(async (name) => (await addGuest(app, room.name, { name })).id),
  );
  const meetings = await listMeetings(app, team, team.member, { room: room.name });
  expect(meetings).toMatchObject([{ id: Math.min(...ids), participant_count: 3, peak: 3 }]);
});

test('random visits give the meetings that reading them one after another gives, in pages of any size', async () => {
  const room = await addRoom(app, team, team.owner);
  const other = await addRoom(app, team, team.owner);
  let seed = 20_26;
  const random = (max: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % max;
  };
  const visits = Array.from({ length: 400 }, (_, at) => {
    const from = random(4_000);
    return { name: `Guest ${at}`, from, to: from + random(at % 40 === 0 ? 90 : 12) };
  });
  const { db } = app.services;
  await db.participant.createMany({ data: visits.map((visit) => toRow(team, room.id, visit)) });
  // Visits of another room at the same times change nothing.
  await db.participant.createMany({ data: visits.map(({ from }) => toRow(team, other.id, { from, to: from + 30 })) });
  const expected = meetingsOf(visits);
  expect(expected.length).toBeGreaterThan(50);
  const found = [];
  for (let cursor: string | undefined, pages = 0; ; pages += 1) {
    const page = await listPage(app, team, team.member, { room: room.name, limit: 7, ...(cursor && { cursor }) });
    found.push(...page.meetings);
    cursor = page.next_cursor;
    if (cursor === undefined) {
      expect(pages).toBe(Math.ceil(expected.length / 7) - 1);
      break;
    }
  }
  expect(
    found.map(({ started_at, ended_at, participant_count, peak }) => [started_at, ended_at, participant_count, peak]),
  ).toEqual(
    expected.map(({ from, to, count, peak }) => [HELD_SECONDS + from * 60, HELD_SECONDS + to * 60, count, peak]),
  );
  for (const { id, participant_count } of found.slice(0, 5)) {
    const { meeting } = await team.member.client.meetings.read.query({ id: team.id, meetingId: id, limit: 100 });
    expect([meeting.id, meeting.participants.length]).toEqual([id, participant_count]);
  }
});

type Range = { from: number; to: number };

/** Reads visits in the order of time, and begins a meeting after each gap. Newest first. */
function meetingsOf(visits: readonly Range[]): (Range & { count: number; peak: number })[] {
  const meetings: (Range & { visits: Range[] })[] = [];
  for (const visit of visits.toSorted((one, other) => one.from - other.from)) {
    const last = meetings.at(-1);
    if (last === undefined || visit.from - last.to >= 10) meetings.push({ ...visit, visits: [visit] });
    else {
      last.to = Math.max(last.to, visit.to);
      last.visits.push(visit);
    }
  }
  return meetings
    .map(({ from, to, visits: inside }) => ({ from, to, count: inside.length, peak: peakOf(inside) }))
    .toReversed();
}

function peakOf(visits: readonly Range[]): number {
  const present = visits.map(({ from: at }) => visits.filter(({ from, to }) => from <= at && at < to).length);
  return Math.max(1, ...present);
}
