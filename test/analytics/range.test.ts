/** Analytics of a range of days: in a time zone, compared with the days before, equal to the lists of what happened. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordContactEvent } from '../../src/features/contacts/record-contact-event.ts';
import { defaultQuotas } from '../../src/quotas/quotas.ts';
import { findOrCreateContact } from '../support/contacts.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { addPage, addRoom, addSubjects, makeHistory } from './history.ts';

const NOW = new Date('2027-01-12T23:30:00.000Z');

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: NOW });
});
afterAll(() => app.close());

async function get(team: Team, path: string) {
  const { status, body } = await app.http.get(`${team.path}/${path}`, team.member.token);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

function record(team: Team, type: string, at: string, subject: { roomId?: number; bookingPageId?: number } = {}) {
  const none = { contactId: null, roomId: null, bookingPageId: null };
  return recordContactEvent(app.services.db.sql, { workspaceId: team.id, type, ...none, ...subject, at: new Date(at) });
}

const activeDays = ({ days }: { days: { date: string; bookings: number; room_joins: number }[] }) =>
  days.flatMap(({ date, bookings, room_joins }) => (bookings + room_joins > 0 ? [[date, bookings, room_joins]] : []));

test('the default is the last 30 days in UTC, with every day, and without a comparison', async () => {
  const team = await addTeam(app);
  const body = await get(team, 'analytics/range');
  expect(body).toMatchObject({ from: '2026-12-14', to: '2027-01-12', time_zone: 'UTC', previous: null });
  expect(body.days).toHaveLength(30);
  expect(body.days[0]).toEqual({
    date: '2026-12-14',
    starts_at: Date.parse('2026-12-14') / 1000,
    ends_at: Date.parse('2026-12-15') / 1000,
    bookings: 0,
    room_joins: 0,
    new_contacts: 0,
  });
  // In Berlin, the next day has begun.
  expect(await get(team, 'analytics/range?time_zone=Europe/Berlin')).toMatchObject({ to: '2027-01-13' });
  expect((await get(team, 'analytics/range?from=2024-01-01&to=2024-12-31')).days).toHaveLength(366);
});

test('an event counts on its day in the time zone, whatever the length of the day', async () => {
  const team = await addTeam(app);
  // Clocks are set back on 1 November 2026 in New York, so that day ends at 05:00 UTC and has 25 hours.
  for (const at of [
    '2026-11-01T03:59:59.999Z',
    '2026-11-01T04:00:00Z',
    '2026-11-02T04:59:59.999Z',
    '2026-11-02T05:00Z',
  ])
    await record(team, 'booking', at);
  const query = 'analytics/range?from=2026-10-31&to=2026-11-02&time_zone=America/New_York';
  const body = await get(team, query);
  expect(activeDays(body)).toEqual([
    ['2026-10-31', 1, 0],
    ['2026-11-01', 2, 0],
    ['2026-11-02', 1, 0],
  ]);
  expect(body.days[1].ends_at - body.days[1].starts_at).toBe(25 * 3600);
  const utc = await get(team, 'analytics/range?from=2026-10-31&to=2026-11-02');
  expect(activeDays(utc)).toEqual([
    ['2026-11-01', 2, 0],
    ['2026-11-02', 2, 0],
  ]);
  // Samoa skipped 30 December 2011: nothing can count on it.
  await record(team, 'booking', '2011-12-30T09:59:59Z');
  await record(team, 'booking', '2011-12-30T10:00:00Z');
  const samoa = await get(team, 'analytics/range?from=2011-12-29&to=2011-12-31&time_zone=Pacific/Apia');
  expect(activeDays(samoa)).toEqual([
    ['2011-12-29', 1, 0],
    ['2011-12-31', 1, 0],
  ]);
});

test('a comparison has the totals of as many days before, and the range only its own', async () => {
  const team = await addTeam(app);
  const [room, page] = [await addRoom(app, team, 'Hall'), await addPage(app, team, 'Call')];
  await record(team, 'room_join', '2027-01-03T23:59:59Z', { roomId: room });
  await record(team, 'room_join', '2027-01-04T00:00:00Z', { roomId: room });
  await record(team, 'room_join', '2027-01-07T00:00:00Z', { roomId: room });
  await record(team, 'booking', '2027-01-09T23:59:59Z', { bookingPageId: page });
  await record(team, 'booking', '2027-01-10T00:00:00Z', { bookingPageId: page });
  const of = { workspaceId: team.id, name: 'Kim', email: 'kim@example.com', at: new Date('2027-01-05T12:00:00Z') };
  await findOrCreateContact(app.services.db.sql, defaultQuotas, of);
  const body = await get(team, 'analytics/range?from=2027-01-07&to=2027-01-09&compare=true');
  expect(body).toMatchObject({
    totals: { bookings: 1, room_joins: 1, new_contacts: 0 },
    event_types: [
      { type: 'booking', count: 1 },
      { type: 'room_join', count: 1 },
    ],
    top_rooms: [{ id: room, display_name: 'Hall', count: 1 }],
    top_booking_pages: [{ id: page, title: 'Call', count: 1 }],
    previous: { from: '2027-01-04', to: '2027-01-06', totals: { bookings: 0, room_joins: 1, new_contacts: 1 } },
  });
});

test('each number is the total of the list of the same time, and the lists show no other workspace', async () => {
  const [team, other] = [await addTeam(app), await addTeam(app)];
  const subjects = await addSubjects(app, team);
  await makeHistory(app, team, subjects, { seed: 3, transactions: 60, now: NOW });
  await makeHistory(app, other, subjects, { seed: 4, transactions: 5, now: NOW });
  const body = await get(team, 'analytics/range?from=2026-12-25&time_zone=Asia/Kathmandu');
  expect(body.totals.room_joins).toBeGreaterThan(20);
  for (const { starts_at, ends_at, bookings, room_joins, new_contacts } of body.days.slice(0, 12)) {
    const range = `from=${starts_at}&to=${ends_at}`;
    expect((await get(team, `contact-events?type=booking&${range}`)).total).toBe(bookings);
    expect((await get(team, `contact-events?type=room_join&${range}`)).total).toBe(room_joins);
    expect((await get(team, `contacts?${range}`)).total).toBe(new_contacts);
    expect((await get(team, `contacts?search=person&${range}`)).total).toBe(new_contacts);
  }
  const whole = `from=${body.days[0].starts_at}&to=${body.days.at(-1).ends_at}`;
  const [top] = body.top_rooms;
  const joins = await get(team, `contact-events?type=room_join&room_id=${top.id}&${whole}`);
  expect([joins.total, joins.events[0].room_name]).toEqual([top.count, top.name]);
  const [page] = body.top_booking_pages;
  expect((await get(team, `contact-events?type=booking&booking_page_id=${page.id}&${whole}`)).total).toBe(page.count);
});

test('the CSV has a row for each day', async () => {
  const team = await addTeam(app);
  await record(team, 'booking', '2027-01-11T22:59:59Z');
  await record(team, 'room_join', '2027-01-11T23:00:00Z');
  const query = 'from=2027-01-11&to=2027-01-12&time_zone=Europe/Berlin&bom=true';
  const { headers, body } = await app.http.get(`${team.path}/analytics.csv?${query}`, team.member.token);
  expect(headers.get('content-disposition')).toContain('analytics.csv');
  // Without the byte order mark, which reading as text removes.
  expect(body).toBe('date,bookings,room_joins,new_contacts\r\n2027-01-11,1,0,0\r\n2027-01-12,0,1,0\r\n');
});
