/** The rules of a booking page: notice, buffers, meetings per day, days off. */

import { IANAZone } from 'luxon';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { boundsOfDay, toLocalDay } from '../../src/core/local-days.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { at, book, cancel, createPage, officeHours, reschedule } from './pages.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date('2026-06-15T12:00:00Z') });
});
afterAll(() => app.close());

const NINE = at('2026-06-16T09:00:00Z');
const HALF_HOUR = 1_800;
const DAY = 86_400;

async function createTeamWithPage(input = {}): Promise<{ id: number; slug: string }> {
  team = await addTeam(app);
  return createPage(app, team, input);
}

async function listTimes(slug: string, from: number, to: number): Promise<number[]> {
  return (await app.http.get(`/api/book/${slug}?from=${from}&to=${to}`)).body.times;
}

function updatePage(id: number, change: object) {
  return app.http.patch(`${team.path}/booking-pages/${id}`, team.admin.token, change);
}

async function bookAt(slug: string, startsAt: number, name?: string) {
  const { status, body } = await book(app, slug, startsAt, name);
  expect(status).toBe(200);
  return body.booking;
}

async function expectUnavailable(answer: ReturnType<typeof book>): Promise<void> {
  const { status, body } = await answer;
  expect([status, body.message]).toEqual([409, 'This time is not available']);
}

describe('the fields of a page', () => {
  const defaults = {
    minimum_notice_minutes: 0,
    buffer_before_minutes: 0,
    buffer_after_minutes: 0,
    max_per_day: null,
    days_off: [],
  };

  test('have defaults, are updated one by one, and null removes the limit per day', async () => {
    const page = await createTeamWithPage();
    expect(page).toMatchObject(defaults);
    const rules = {
      minimum_notice_minutes: 60,
      buffer_before_minutes: 5,
      buffer_after_minutes: 10,
      max_per_day: 3,
      days_off: ['2026-12-24', '2026-02-28', '2026-12-24'],
    };
    const changed = (await updatePage(page.id, rules)).body.bookingPage;
    expect(changed).toMatchObject({ ...rules, days_off: ['2026-02-28', '2026-12-24'] });
    const cleared = await updatePage(page.id, { max_per_day: null, days_off: [], buffer_after_minutes: null });
    const { updated_at: _, ...rest } = changed;
    expect(cleared.body.bookingPage).toMatchObject({ ...rest, max_per_day: null, days_off: [] });
    const { bookingPages } = await team.member.client.bookingPages.list.query({ id: team.id });
    expect(bookingPages).toEqual([cleared.body.bookingPage]);
  });

  test.each([
    [{ minimum_notice_minutes: 43_201 }, 'minimum_notice_minutes must be an integer between 0 and 43200'],
    [{ buffer_before_minutes: -1 }, 'buffer_before_minutes must be an integer between 0 and 240'],
    [{ buffer_after_minutes: 1.5 }, 'buffer_after_minutes must be an integer between 0 and 240'],
    [{ max_per_day: 0 }, 'max_per_day must be an integer between 1 and 288'],
    [{ days_off: ['2026-02-29'] }, 'days_off.0 must be a date such as 2026-12-24'],
    [{ days_off: Array.from({ length: 367 }, () => '2026-12-24') }, 'days_off must have at most 366 entries'],
  ])('with %j are rejected', async (rules, message) => {
    const { id } = await createTeamWithPage();
    const created = await app.http.post(`${team.path}/booking-pages`, team.admin.token, { ...officeHours, ...rules });
    const updated = await updatePage(id, rules);
    for (const { status, body } of [created, updated]) expect([status, body.message]).toEqual([400, message]);
  });
});

test('a meeting must be booked before its notice begins', async () => {
  const { slug } = await createTeamWithPage({ minimum_notice_minutes: 21 * 60 });
  const noon = at('2026-06-15T12:00:00Z');
  expect((await listTimes(slug, noon, noon + DAY))[0]).toBe(NINE);
  app.clock.advance(1);
  try {
    expect((await listTimes(slug, noon, noon + DAY))[0]).toBe(NINE + HALF_HOUR);
    await expectUnavailable(book(app, slug, NINE));
    const { cancel_token } = await bookAt(slug, NINE + HALF_HOUR);
    await expectUnavailable(reschedule(app, slug, cancel_token, NINE));
  } finally {
    app.clock.advance(-1);
  }
});

describe('buffers', () => {
  test('keep the longer of the two between meetings of a host, on all pages', async () => {
    const { slug } = await createTeamWithPage({ buffer_before_minutes: 30, buffer_after_minutes: 60 });
    const other = await createPage(app, team, { title: 'Other', buffer_before_minutes: 30 });
    await bookAt(slug, NINE + 4 * HALF_HOUR);
    const around = (of: string) => listTimes(of, NINE, NINE + 9 * HALF_HOUR);
    // The page itself needs an hour after an earlier meeting, and the other page nothing.
    expect(await around(slug)).toEqual([0, 1, 7, 8].map((step) => NINE + step * HALF_HOUR));
    expect(await around(other.slug)).toEqual([0, 1, 2, 7, 8].map((step) => NINE + step * HALF_HOUR));
    await expectUnavailable(book(app, other.slug, NINE + 3 * HALF_HOUR, 'Walt'));
    await expectUnavailable(book(app, other.slug, NINE + 6 * HALF_HOUR, 'Walt'));
    await bookAt(other.slug, NINE + 2 * HALF_HOUR, 'Walt');
  });

  test('of a booking are those that its page had', async () => {
    const { id, slug } = await createTeamWithPage({ buffer_after_minutes: 60 });
    await bookAt(slug, NINE);
    await updatePage(id, { buffer_after_minutes: 0 });
    expect(await listTimes(slug, NINE, NINE + 4 * HALF_HOUR)).toEqual([NINE + 3 * HALF_HOUR]);
    await expectUnavailable(book(app, slug, NINE + HALF_HOUR, 'Walt'));
  });

  test('hold if guests book and move to neighbouring times at once', async () => {
    const { slug } = await createTeamWithPage({ buffer_before_minutes: 30 });
    const other = await createPage(app, team, { title: 'Other', buffer_before_minutes: 30 });
    const moving = await bookAt(slug, NINE + 12 * HALF_HOUR, 'Mover');
    const answers = await concurrently(13, (index) =>
      index === 12
        ? reschedule(app, slug, moving.cancel_token, NINE + 3 * HALF_HOUR)
        : book(app, index % 2 ? slug : other.slug, NINE + (index % 6) * HALF_HOUR, `Guest ${index}`),
    );
    expect(Object.keys(countStatuses(answers)).sort()).toEqual(['200', '409']);
    const booked = await app.services.db.booking.findMany({
      where: { workspaceId: team.id },
      orderBy: { startsAt: 'asc' },
    });
    const gaps = booked
      .slice(1)
      .map(({ startsAt }, index) => startsAt.getTime() - (booked[index]?.endsAt.getTime() ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(HALF_HOUR * 1_000);
  });

  test('do not bind the workspace, and a time that overlaps is still refused', async () => {
    const { slug } = await createTeamWithPage({ buffer_before_minutes: 60, max_per_day: 2, days_off: ['2026-06-18'] });
    const { id } = await bookAt(slug, NINE);
    await bookAt(slug, NINE + 4 * HALF_HOUR, 'Walt');
    const path = `${team.path}/bookings/${id}/reschedule`;
    for (const time of [NINE + 3 * HALF_HOUR, at('2026-06-18T23:00:00Z')])
      expect((await app.http.post(path, team.admin.token, { starts_at: time })).status).toBe(200);
    await expectUnavailable(app.http.post(path, team.admin.token, { starts_at: NINE + 4 * HALF_HOUR - 60 }));
  });
});

describe('days off', () => {
  test('are days of the time zone of the page', async () => {
    const { slug } = await createTeamWithPage({ time_zone: 'Asia/Tokyo', days_off: ['2026-06-17'] });
    // Tokyo is nine hours ahead: the page is open from 00:00 to 08:00 in UTC.
    const days = await listTimes(slug, at('2026-06-16T00:00:00Z'), at('2026-06-19T00:00:00Z'));
    expect(new Set(days.map((time) => new Date(time * 1_000).toISOString().slice(0, 10)))).toEqual(
      new Set(['2026-06-16', '2026-06-18']),
    );
    await expectUnavailable(book(app, slug, at('2026-06-17T00:00:00Z')));
    const { cancel_token } = await bookAt(slug, at('2026-06-16T00:00:00Z'));
    await expectUnavailable(reschedule(app, slug, cancel_token, at('2026-06-17T00:00:00Z')));
  });

  test.each([
    ['2026-10-25', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
    ['2027-03-28', '2027-03-27T23:00:00Z', '2027-03-28T22:00:00Z'],
  ])('on which clocks change are off as a whole: %s', async (day, start, end) => {
    const hours = ['saturday', 'sunday', 'monday'].map((weekday) => ({ day: weekday, from: '00:00', to: '24:00' }));
    const rules = { time_zone: 'Europe/Berlin', duration_minutes: 60, hours, days_off: [day] };
    const { slug } = await createTeamWithPage(rules);
    const times = await listTimes(slug, at(start) - 7_200, at(end) + 7_200);
    expect(times).toEqual([at(start) - 7_200, at(start) - 3_600, at(end), at(end) + 3_600]);
  });
});

describe('the limit per day', () => {
  test('counts the meetings of the page in its time zone, without cancelled ones', async () => {
    const { slug } = await createTeamWithPage({ time_zone: 'Asia/Tokyo', max_per_day: 2 });
    const other = await createPage(app, team, { title: 'Other', time_zone: 'Asia/Tokyo' });
    const [day, next] = [at('2026-06-17T00:00:00Z'), at('2026-06-18T00:00:00Z')];
    await bookAt(other.slug, day, 'Other');
    const first = await bookAt(slug, day + HALF_HOUR);
    expect(await listTimes(slug, day, day + 1)).toEqual([]);
    expect(await listTimes(slug, day + 2 * HALF_HOUR, day + 3 * HALF_HOUR)).toEqual([day + 2 * HALF_HOUR]);
    await bookAt(slug, day + 3 * HALF_HOUR, 'Walt');
    expect(await listTimes(slug, day, next + 1)).toEqual([next]);
    await expectUnavailable(book(app, slug, day + 4 * HALF_HOUR, 'Xena'));
    // A meeting can move within a day that is full, and not into it.
    expect((await reschedule(app, slug, first.cancel_token, day + 5 * HALF_HOUR)).status).toBe(200);
    const later = await bookAt(slug, next, 'Xena');
    await expectUnavailable(reschedule(app, slug, later.cancel_token, day + 6 * HALF_HOUR));
    await cancel(app, slug, first.cancel_token);
    expect((await reschedule(app, slug, later.cancel_token, day + 6 * HALF_HOUR)).status).toBe(200);
  });

  test.each([
    ['2026-10-25', '2026-10-24T22:00:00Z', '2026-10-25T22:00:00Z'],
    ['2027-03-28', '2027-03-27T23:00:00Z', '2027-03-28T21:00:00Z'],
  ])('counts the first and the last hour of a day on which clocks change: %s', async (_, first, last) => {
    const hours = ['saturday', 'sunday', 'monday'].map((day) => ({ day, from: '00:00', to: '24:00' }));
    const rules = { time_zone: 'Europe/Berlin', duration_minutes: 60, hours, max_per_day: 1 };
    const { slug } = await createTeamWithPage(rules);
    const { cancel_token } = await bookAt(slug, at(first));
    expect(await listTimes(slug, at(first) - 3_600, at(last) + 3_601)).toEqual([at(first) - 3_600, at(last) + 3_600]);
    await expectUnavailable(book(app, slug, at(last), 'Walt'));
    await cancel(app, slug, cancel_token);
    await bookAt(slug, at(last), 'Walt');
    await expectUnavailable(book(app, slug, at(first), 'Xena'));
  });

  test('holds if 12 guests book the day and others move into it at once', async () => {
    const { slug } = await createTeamWithPage({ max_per_day: 3 });
    const movers: { cancel_token: string }[] = [];
    for (let guest = 0; guest < 3; guest += 1)
      movers.push(await bookAt(slug, NINE + DAY + guest * HALF_HOUR, `Mover ${guest}`));
    const answers = await concurrently(15, (index) =>
      index < 12
        ? book(app, slug, NINE + index * HALF_HOUR, `Guest ${index}`)
        : reschedule(app, slug, movers[index - 12]?.cancel_token ?? '', NINE + index * HALF_HOUR),
    );
    expect(countStatuses(answers)).toEqual({ 200: 3, 409: 12 });
  });

  test.each([
    ['Europe/Berlin', '2026-10-25T12:00:00Z', 25],
    ['Europe/Berlin', '2027-03-28T12:00:00Z', 23],
    ['America/Havana', '2026-11-01T12:00:00Z', 25],
    ['Africa/Cairo', '2026-04-24T12:00:00Z', 23],
    ['Australia/Lord_Howe', '2026-10-04T12:00:00Z', 23.5],
    ['UTC', '2026-10-04T12:00:00Z', 24],
  ])('uses days of %s as long as they are: %s has %f hours', (name, time, hours) => {
    const zone = IANAZone.create(name);
    const day = toLocalDay(zone, Date.parse(time));
    const { start, end } = boundsOfDay(zone, day);
    expect((end - start) / 3_600_000).toBe(hours);
    expect([start, end - 1].map((instant) => toLocalDay(zone, instant))).toEqual([day, day]);
    expect([start - 1, end].map((instant) => toLocalDay(zone, instant) === day)).toEqual([false, false]);
  });
});
