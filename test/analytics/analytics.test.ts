/** Reading analytics: every number equals a count of the rows, on the right UTC day, and only members may read. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../src/core/time.ts';
import { openDatabase, transact } from '../../src/db/client.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { readAnalytics } from '../../src/features/analytics/read-analytics.ts';
import { recordContactEvent } from '../../src/features/contacts/record-contact-event.ts';
import { defaultQuotas } from '../../src/quotas/quotas.ts';
import { findOrCreateContact } from '../support/contacts.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { countRows } from './count-rows.ts';
import { addPage, addRecording, addRoom, addSubjects, makeHistory } from './history.ts';

/** Early in a year, so that the last 30 days include its first day. */
const NOW = new Date('2027-01-12T00:00:00.000Z');

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: NOW });
});
afterAll(() => app.close());

function pathOf({ path }: Team): string {
  return `${path}/analytics`;
}

/** Reads the analytics over REST, and compares them with a count of the rows and with tRPC. */
async function read(team: Team) {
  const { status, body } = await app.http.get(pathOf(team), team.member.token);
  expect(status).toBe(200);
  expect(body).toEqual(await countRows(app.services.db, team.id, app.clock.now()));
  expect(await team.owner.client.analytics.read.query({ workspaceId: team.id })).toEqual(body);
  return body;
}

function record(
  team: Team,
  type: string,
  at: Date | string,
  subject: { roomId?: number; bookingPageId?: number } = {},
) {
  return recordContactEvent(app.services.db.sql, {
    workspaceId: team.id,
    type,
    contactId: null,
    roomId: null,
    bookingPageId: null,
    ...subject,
    at: new Date(at),
  });
}

function addContact(team: Team, email: string, at: Date | string = NOW) {
  return findOrCreateContact(app.services.db.sql, defaultQuotas, {
    workspaceId: team.id,
    name: 'Kim',
    email,
    at: new Date(at),
  });
}

const empty = {
  kpis: { rooms: 0, recordings: 0, recordingDuration: 0, contacts: 0, bookings: 0 },
  activityTimeline: [],
  eventTypeBreakdown: [],
  topBookingPages: [],
  newContactsTimeline: [],
  topRooms: [],
};

test('an empty workspace has six empty fields in the order of the contract', async () => {
  const body = await read(await addTeam(app));
  expect(body).toEqual(empty);
  expect(Object.keys(body)).toEqual(Object.keys(empty));
});

test('every number equals a count of the rows of a random history, on any day', async () => {
  const [team, other] = [await addTeam(app), await addTeam(app)];
  const subjects = await addSubjects(app, team);
  for (const [index, roomId] of subjects.rooms.entries()) await addRecording(app, team, roomId, index * 4_000_000_000);
  await makeHistory(app, team, subjects, { seed: 1, transactions: 250, now: NOW });
  // Events of another workspace do not count here, even if they name rooms of this one.
  await makeHistory(app, other, subjects, { seed: 2, transactions: 20, now: NOW });
  const first = await read(team);
  expect(first.kpis.recordingDuration).toBe(66 * 4_000_000_000);
  expect(first.activityTimeline.length).toBeGreaterThan(20);
  expect(first.activityTimeline[0].date.slice(0, 4)).toBe('2026');
  expect(first.activityTimeline.at(-1).date).toBe('2027-01-12');
  expect(first.topRooms).toHaveLength(5);
  expect((await read(other)).topRooms).toEqual([]);

  // At midnight and a millisecond before, from 31 days ago to 61 days from now.
  const moveTo = (time: number): void => app.clock.advance(time - app.clock.now().getTime());
  for (let day = -31; day <= 61; day += 4) {
    for (const offset of [day * DAY_MS - 1, day * DAY_MS]) {
      moveTo(NOW.getTime() + offset);
      // Not through a transport, because the sessions would have expired.
      expect(await readAnalytics(app.services, { workspaceId: team.id })).toEqual(
        await countRows(app.services.db, team.id, app.clock.now()),
      );
    }
  }
  moveTo(NOW.getTime());
});

describe('the timelines', () => {
  test('cover today and the 29 days before, in UTC', async () => {
    const team = await addTeam(app);
    for (const at of [
      '2026-12-13T23:59:59.999Z',
      '2026-12-14T00:00:00.000Z',
      '2026-12-31T23:59:59.999Z',
      '2027-01-01T00:00:00.000Z',
      '2027-01-12T23:59:59.999Z',
      '2027-01-13T00:00:00.000Z',
    ]) {
      await record(team, 'booking', at);
      await addContact(team, `${at}@example.com`, at);
    }
    const body = await read(team);
    const days = ['2026-12-14', '2026-12-31', '2027-01-01', '2027-01-12'];
    expect(body.activityTimeline).toEqual(days.map((date) => ({ date, bookings: 1, room_joins: 0 })));
    expect(body.newContactsTimeline).toEqual(days.map((date) => ({ date, count: 1 })));
    expect(body.kpis).toMatchObject({ bookings: 6, contacts: 6 });
    app.clock.advance(DAY_MS);
    expect((await read(team)).activityTimeline.map(({ date }: { date: string }) => date)).toEqual([
      ...days.slice(1),
      '2027-01-13',
    ]);
    app.clock.advance(-DAY_MS);
  });

  test('do not depend on the time zone of the database', async () => {
    const elsewhere = await startTestApp({ frozenAt: NOW });
    const team = await addTeam(elsewhere);
    await elsewhere.services.db.$executeRawUnsafe(`do $$ begin
      execute format('alter database %I set timezone to ''Pacific/Auckland''', current_database()); end $$`);
    // The setting applies to new connections. In Auckland, half of the UTC day is already the next day.
    const db = openDatabase({ connectionString: elsewhere.databaseUrl, poolSize: 1, onError: () => {} });
    const clock = { now: () => new Date('2027-01-12T23:30:00Z') };
    for (const at of ['2027-01-12T00:30:00Z', '2027-01-12T23:59:59.999Z', '2027-01-13T00:00:00Z'])
      await transact(db, async (tx) => {
        const event = { workspaceId: team.id, type: 'booking', contactId: null, roomId: null, bookingPageId: null };
        await findOrCreateContact(sqlIn(tx), defaultQuotas, {
          workspaceId: team.id,
          name: 'Kim',
          email: `${at}@example.com`,
          at: new Date(at),
        });
        await recordContactEvent(sqlIn(tx), { ...event, at: new Date(at) });
      });
    expect(await readAnalytics({ db, clock }, { workspaceId: team.id })).toMatchObject({
      activityTimeline: [{ date: '2027-01-12', bookings: 2, room_joins: 0 }],
      newContactsTimeline: [{ date: '2027-01-12', count: 2 }],
    });
    await db.$disconnect();
    await elsewhere.close();
  });

  test('contain only days with bookings or joins; other events are only in the breakdown', async () => {
    const team = await addTeam(app);
    await record(team, 'page_view', NOW);
    await record(team, 'room_leave', NOW);
    await record(team, 'room_join', new Date(NOW.getTime() - DAY_MS));
    expect(await read(team)).toMatchObject({
      activityTimeline: [{ date: '2027-01-11', bookings: 0, room_joins: 1 }],
      eventTypeBreakdown: [
        { type: 'page_view', count: 1 },
        { type: 'room_join', count: 1 },
        { type: 'room_leave', count: 1 },
      ],
    });
  });
});

describe('the top lists', () => {
  test('are ordered by count, then by type or id', async () => {
    const team = await addTeam(app);
    const { rooms, pages } = await addSubjects(app, team);
    for (const roomId of [...rooms].reverse()) await record(team, 'room_join', NOW, { roomId });
    for (const bookingPageId of [...pages].reverse()) await record(team, 'booking', NOW, { bookingPageId });
    await record(team, 'room_join', NOW, { roomId: rooms[7] ?? 0 });
    for (const type of ['b_type', 'a_type', 'a_type0', 'room_join']) await record(team, type, NOW);
    const body = await read(team);
    const ids = (list: { id: number }[]): number[] => list.map(({ id }) => id);
    expect(ids(body.topRooms)).toEqual([rooms[7], ...rooms.slice(0, 4)]);
    expect(ids(body.topBookingPages)).toEqual(pages.slice(0, 5));
    expect(body.eventTypeBreakdown.map(({ type }: { type: string }) => type)).toEqual([
      'room_join',
      'booking',
      'a_type',
      'a_type0',
      'b_type',
    ]);
    expect(body.topRooms[0]).toMatchObject({ display_name: 'R7', count: 2 });
    expect(body.topRooms[1]).toMatchObject({ display_name: null, count: 1 });
  });

  test('count only joins for rooms and only bookings for pages', async () => {
    const team = await addTeam(app);
    const both = { roomId: await addRoom(app, team), bookingPageId: await addPage(app, team) };
    await record(team, 'room_leave', NOW, both);
    await record(team, 'booking', NOW, { roomId: both.roomId });
    await record(team, 'room_join', NOW, { bookingPageId: both.bookingPageId });
    expect(await read(team)).toMatchObject({ topRooms: [], topBookingPages: [] });
  });
});

describe('after a deletion', () => {
  test('deleted rooms, recordings, contacts and pages do not count, but contact events do', async () => {
    const team = await addTeam(app);
    const { db } = app.services;
    const rooms = [await addRoom(app, team), await addRoom(app, team)] as const;
    const pages = [await addPage(app, team), await addPage(app, team)] as const;
    for (const roomId of rooms) {
      await addRecording(app, team, roomId, 60);
      await record(team, 'room_join', NOW, { roomId });
    }
    const deleted = await addRecording(app, team, rooms[1], 5);
    for (const bookingPageId of pages) await record(team, 'booking', NOW, { bookingPageId });
    await addContact(team, 'one@example.com');
    await addContact(team, 'two@example.com', '2027-01-03T10:00:00Z');
    expect((await read(team)).kpis).toEqual({
      rooms: 2,
      recordings: 3,
      recordingDuration: 125,
      contacts: 2,
      bookings: 2,
    });

    const where = { workspaceId: team.id };
    await db.recording.deleteMany({ where: { ...where, id: deleted } });
    expect((await read(team)).kpis).toMatchObject({ recordings: 2, recordingDuration: 120 });
    await db.room.deleteMany({ where: { ...where, id: rooms[0] } });
    await db.bookingPage.deleteMany({ where: { ...where, id: pages[0] } });
    await db.contact.deleteMany({ where: { ...where, email: 'two@example.com' } });
    // A join that is recorded after its room was deleted.
    await record(team, 'room_join', NOW, { roomId: rooms[0] });
    expect(await read(team)).toMatchObject({
      kpis: { rooms: 1, recordings: 1, recordingDuration: 60, contacts: 1, bookings: 2 },
      activityTimeline: [{ date: '2027-01-12', bookings: 2, room_joins: 3 }],
      eventTypeBreakdown: [
        { type: 'room_join', count: 3 },
        { type: 'booking', count: 2 },
      ],
      topBookingPages: [{ id: pages[1], count: 1 }],
      newContactsTimeline: [{ date: '2027-01-12', count: 1 }],
      topRooms: [{ id: rooms[1], count: 1 }],
    });

    await db.room.deleteMany({ where });
    await db.bookingPage.deleteMany({ where });
    await db.contact.deleteMany({ where });
    expect(await read(team)).toMatchObject({
      kpis: { ...empty.kpis, bookings: 2 },
      topBookingPages: [],
      newContactsTimeline: [],
      topRooms: [],
    });
  });

  test('a deleted workspace has no events, contacts and sums', async () => {
    const team = await addTeam(app);
    const { db } = app.services;
    await makeHistory(app, team, await addSubjects(app, team), { seed: 3, transactions: 20, now: NOW });
    expect((await app.http.delete(team.path, team.owner.token)).status).toBe(200);
    const where = { workspaceId: team.id };
    expect([
      await db.contactEvent.count({ where }),
      await db.contactEventDay.count({ where }),
      await db.contactEventSubject.count({ where }),
      await db.contact.count({ where }),
      await db.contactDay.count({ where }),
    ]).toEqual([0, 0, 0, 0, 0]);
    expect((await app.http.get(pathOf(team), team.owner.token)).status).toBe(404);
  });

  test('rows that are counted cannot be changed', async () => {
    const team = await addTeam(app);
    const { db } = app.services;
    await record(team, 'booking', NOW);
    await addContact(team, 'fixed@example.com');
    const where = { workspaceId: team.id };
    await expect(db.contactEvent.updateMany({ where, data: { type: 'room_join' } })).rejects.toThrow();
    await expect(db.contactEvent.deleteMany({ where })).rejects.toThrow();
    await expect(db.contact.updateMany({ where, data: { createdAt: new Date(0) } })).rejects.toThrow();
    await db.contact.updateMany({ where, data: { name: 'Renamed' } });
    await expect(record(team, 'Room Join', NOW)).rejects.toThrow();
    expect((await read(team)).kpis).toMatchObject({ bookings: 1, contacts: 1 });
  });
});

describe('access', () => {
  test('is granted to any member, by session or API key', async () => {
    const team = await addTeam(app);
    const { body } = await app.http.post(`${team.path}/api-keys`, team.owner.token, { name: 'Reader' });
    const tokens = [team.owner.token, team.admin.token, team.member.token, body.apiKey.full_key];
    for (const token of tokens) expect((await app.http.get(pathOf(team), token)).status).toBe(200);
  });

  test('is denied to anyone else, through both transports', async () => {
    const team = await addTeam(app);
    const ask = async (id: unknown, token?: string) => {
      const rest = await app.http.get(`/api/workspaces/${id}/analytics`, token);
      const number = Number(id);
      const input = encodeURIComponent(JSON.stringify({ workspaceId: Number.isNaN(number) ? id : number }));
      const rpc = await app.http.get(`/trpc/analytics.read?input=${input}`, token);
      expect([rpc.status, rpc.body.error.message]).toEqual([rest.status, rest.body.message]);
      return [rest.status, rest.body.error];
    };
    expect(await ask(team.id)).toEqual([401, 'Unauthorized']);
    expect(await ask('abc')).toEqual([401, 'Unauthorized']);
    expect(await ask(2_147_483_647, team.outsider.token)).toEqual([404, 'Workspace not found']);
    expect(await ask(team.id, team.outsider.token)).toEqual([403, 'Forbidden']);
    for (const id of [0, -1, 2_147_483_648])
      expect(await ask(id, team.member.token)).toEqual([404, 'Workspace not found']);
    for (const id of ['abc', 1.5])
      expect(await ask(id, team.member.token)).toEqual([400, 'workspaceId must be a positive 32-bit integer']);
    // A workspace in the query has no effect.
    const path = `${pathOf(team)}?workspaceId=${team.id}&id=${team.id}`;
    expect((await app.http.get(path, team.outsider.token)).status).toBe(403);
  });

  test('is denied to an API key of another workspace', async () => {
    const [team, other] = [await addTeam(app), await addTeam(app)];
    const { body } = await app.http.post(`${other.path}/api-keys`, other.owner.token, { name: 'Other' });
    expect(await app.http.get(pathOf(team), body.apiKey.full_key)).toMatchObject({
      status: 403,
      body: { error: 'Forbidden' },
    });
  });
});
