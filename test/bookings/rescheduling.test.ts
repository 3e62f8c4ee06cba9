/** Looking at a booking by its token, and moving it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../src/core/time.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import type { Answer } from '../support/http.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { at, book, cancel, createPage, lookUp, reschedule, timesToMove } from './pages.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({
    frozenAt: new Date('2026-06-15T12:00:00Z'),
    settings: { appUrl: 'https://app.example.com' },
  });
});
afterAll(() => app.close());

const NINE = at('2026-06-16T09:00:00Z');
const HALF_HOUR = 1_800;

type Booked = { id: number; cancel_token: string; room_name: string };

async function createTeamWithPage(input = {}): Promise<{ id: number; slug: string }> {
  team = await addTeam(app);
  return createPage(app, team, input);
}

async function bookAt(slug: string, startsAt: number, name?: string): Promise<Booked> {
  const { status, body } = await book(app, slug, startsAt, name);
  expect(status).toBe(200);
  return body.booking;
}

function rescheduleByTeam(token: string, bookingId: number, startsAt: number): Promise<Answer> {
  return app.http.post(`${team.path}/bookings/${bookingId}/reschedule`, token, { starts_at: startsAt });
}

/** The active bookings of the workspace: they must never overlap. */
async function activeStarts(): Promise<number[]> {
  const where = { workspaceId: team.id, cancelledAt: null };
  const active = await app.services.db.booking.findMany({ where, orderBy: { startsAt: 'asc' } });
  return active.map(({ startsAt }) => startsAt.getTime() / 1_000);
}

async function inHours<Result>(hours: number, work: () => Promise<Result>): Promise<Result> {
  app.clock.advance(hours * HOUR_MS);
  try {
    return await work();
  } finally {
    app.clock.advance(-hours * HOUR_MS);
  }
}

describe('a guest who has the token sees the booking', () => {
  test('as it is, also after the slug has changed, after the meeting and after it was cancelled', async () => {
    const { id, slug } = await createTeamWithPage();
    const { cancel_token, ...booked } = await bookAt(slug, NINE);
    expect((await lookUp(app, slug, cancel_token)).body).toEqual({ booking: booked });
    const renamed = `renamed-${team.id}`;
    await app.http.patch(`${team.path}/booking-pages/${id}`, team.admin.token, { slug: renamed, title: 'Renamed' });
    const manage_url = `https://app.example.com/book/${renamed}/booking#token=${cancel_token}`;
    const found = await lookUp(app, 'no-such-page', cancel_token);
    expect(found.body.booking).toMatchObject({ id: booked.id, slug: renamed, title: 'Renamed', manage_url });
    expect((await inHours(48, () => lookUp(app, slug, cancel_token))).status).toBe(200);
    await cancel(app, slug, cancel_token);
    expect((await lookUp(app, slug, cancel_token)).body.booking).toMatchObject({
      id: booked.id,
      status: 'cancelled',
      cancelled_at: at('2026-06-15T12:00:00Z'),
      room_name: null,
      sequence: 1,
    });
  });

  test('and nobody else does', async () => {
    const { slug } = await createTeamWithPage();
    const { cancel_token, id } = await bookAt(slug, NINE);
    for (const token of [`${cancel_token}A`, cancel_token.replace('lnb_', 'lnp_'), String(id), '', '\u0000'])
      for (const answer of [await lookUp(app, slug, token), await reschedule(app, slug, token, NINE + HALF_HOUR)])
        expect([answer.status, answer.body.message]).toEqual([404, 'Booking not found']);
  });
});

describe('moving a meeting', () => {
  test('is offered at the times that are free without it, whatever its own limit and buffers hide', async () => {
    const { slug } = await createTeamWithPage({ max_per_day: 1, buffer_after_minutes: 30 });
    const booked = await bookAt(slug, NINE);
    await bookAt(slug, NINE + 48 * HALF_HOUR, 'Walt');
    const range = { from: NINE, to: NINE + 96 * HALF_HOUR };
    const { body } = await app.http.get(`/api/book/${slug}?from=${range.from}&to=${range.to}`);
    expect(body.times).toEqual([]);
    const times = await timesToMove(app, booked.cancel_token, range);
    expect(times).toEqual(Array.from({ length: 16 }, (_, index) => NINE + index * HALF_HOUR));
    for (const time of [NINE + HALF_HOUR, NINE])
      expect((await reschedule(app, slug, booked.cancel_token, time)).status).toBe(200);
    await expect(timesToMove(app, `${booked.cancel_token}A`)).rejects.toThrow('Booking not found');
  });

  test('keeps id, room and token, moves the time of the room, and frees the old time', async () => {
    const { slug } = await createTeamWithPage();
    const booked = await bookAt(slug, NINE);
    const { status, body } = await reschedule(app, slug, booked.cancel_token, NINE + HALF_HOUR);
    const { cancel_token, ...rest } = booked;
    const moved = { ...rest, starts_at: NINE + HALF_HOUR, ends_at: NINE + 2 * HALF_HOUR, sequence: 1 };
    expect([status, body]).toEqual([200, { booking: moved }]);
    expect((await lookUp(app, slug, cancel_token)).body).toEqual({ booking: moved });
    const { room } = (await app.http.get(`/api/dashboard/rooms/${booked.room_name}`, team.admin.token)).body;
    expect(room.scheduled_at).toBe(NINE + HALF_HOUR);
    const { times } = (await app.http.get(`/api/book/${slug}?from=${NINE}&to=${NINE + 2 * HALF_HOUR}`)).body;
    expect(times).toEqual([NINE]);
    const { bookings } = await team.member.client.bookings.list.query({ id: team.id });
    expect(bookings).toMatchObject([{ id: booked.id, starts_at: NINE + HALF_HOUR, status: 'confirmed', sequence: 1 }]);
    const where = { workspaceId: team.id, type: 'booking_rescheduled' };
    expect(await app.services.db.contactEvent.count({ where })).toBe(1);
    await cancel(app, slug, cancel_token);
    expect((await lookUp(app, slug, cancel_token)).body.booking).toMatchObject({ status: 'cancelled', sequence: 2 });
  });

  test('to its own time changes nothing', async () => {
    const { slug } = await createTeamWithPage();
    const { cancel_token } = await bookAt(slug, NINE);
    expect((await reschedule(app, slug, cancel_token, NINE)).body.booking).toMatchObject({ sequence: 0 });
  });

  test('to a time that overlaps its own is possible, and takes the length that the page has now', async () => {
    const { id, slug } = await createTeamWithPage();
    const { cancel_token } = await bookAt(slug, NINE + HALF_HOUR);
    await app.http.patch(`${team.path}/booking-pages/${id}`, team.admin.token, { duration_minutes: 60 });
    const { body } = await reschedule(app, slug, cancel_token, NINE);
    expect(body.booking).toMatchObject({ starts_at: NINE, ends_at: NINE + 3_600 });
  });

  test('is rejected if the time is taken or not offered, and changes nothing', async () => {
    const { slug } = await createTeamWithPage();
    const { cancel_token } = await bookAt(slug, NINE);
    await bookAt(slug, NINE + HALF_HOUR, 'Walt');
    for (const time of [NINE + HALF_HOUR, NINE - HALF_HOUR, NINE + 60, at('2026-06-15T11:30:00Z'), 0]) {
      const { status, body } = await reschedule(app, slug, cancel_token, time);
      expect([status, body.message]).toEqual([409, 'This time is not available']);
    }
    expect(await activeStarts()).toEqual([NINE, NINE + HALF_HOUR]);
  });

  test('is rejected once it has started, after it was cancelled, and after ten changes', async () => {
    const { slug } = await createTeamWithPage();
    const { cancel_token, id } = await bookAt(slug, NINE);
    const started = await inHours(21, () => reschedule(app, slug, cancel_token, NINE + 4 * HALF_HOUR));
    expect([started.status, started.body.message]).toEqual([409, 'The meeting has already started']);
    for (let change = 1; change <= 10; change += 1)
      expect((await reschedule(app, slug, cancel_token, NINE + (change % 2) * HALF_HOUR)).status).toBe(200);
    const often = await reschedule(app, slug, cancel_token, NINE + HALF_HOUR);
    expect([often.status, often.body.message]).toEqual([
      409,
      'This meeting has been moved too many times: cancel it and book another one',
    ]);
    expect((await rescheduleByTeam(team.admin.token, id, NINE + HALF_HOUR)).body.booking).toMatchObject({
      sequence: 11,
    });
    await cancel(app, slug, cancel_token);
    for (const answer of [
      await reschedule(app, slug, cancel_token, NINE),
      await rescheduleByTeam(team.admin.token, id, NINE),
    ])
      expect([answer.status, answer.body.message]).toEqual([409, 'The booking is cancelled']);
  });

  test('ends an overlap that was accepted, and is not accepted for another one', async () => {
    const { slug } = await createTeamWithPage();
    const first = await bookAt(slug, NINE);
    const second = await bookAt(slug, NINE + HALF_HOUR, 'Walt');
    const { db } = app.services;
    await db.booking.updateMany({ where: { workspaceId: team.id }, data: { mayOverlap: true } });
    await db.booking.updateMany({ where: { id: second.id }, data: { startsAt: new Date((NINE + 60) * 1_000) } });
    const onto = await rescheduleByTeam(team.admin.token, first.id, NINE + 120);
    expect([onto.status, onto.body.message]).toEqual([409, 'This time is not available']);
    const { body } = await rescheduleByTeam(team.admin.token, first.id, NINE + 4 * HALF_HOUR);
    expect(body.booking.overlaps).toBe(0);
  });
});

describe('moving by the workspace', () => {
  test('is allowed for owners, admins and the host, to any free time, whether the page offers it or not', async () => {
    const { slug } = await createTeamWithPage({});
    const { id } = await bookAt(slug, NINE);
    const other = await bookAt(slug, NINE + HALF_HOUR, 'Walt');
    expect((await rescheduleByTeam(team.member.token, id, NINE + 4 * HALF_HOUR)).status).toBe(403);
    const night = at('2026-06-17T03:07:00Z');
    const { status, body } = await rescheduleByTeam(team.owner.token, id, night);
    expect([status, body.booking]).toMatchObject([
      200,
      { id, starts_at: night, ends_at: night + HALF_HOUR, status: 'confirmed', sequence: 1, email: 'vera@example.com' },
    ]);
    const client = team.admin.client.bookings.rescheduleByTeam;
    const moved = await client.mutate({ id: team.id, bookingId: id, starts_at: night + 60 });
    expect(moved.booking).toMatchObject({ starts_at: night + 60, sequence: 2 });
    // The admin is still the host, but only a member.
    await app.http.patch(`${team.path}/members/${team.admin.id}`, team.owner.token, { role: 'member' });
    expect((await rescheduleByTeam(team.admin.token, id, night)).status).toBe(200);
    const taken = await rescheduleByTeam(team.admin.token, id, NINE + HALF_HOUR - 60);
    expect([taken.status, taken.body.message]).toEqual([409, 'This time is not available']);
    expect((await lookUp(app, slug, other.cancel_token)).body.booking.sequence).toBe(0);
  });

  test('is rejected for a past time and for one after the next 365 days', async () => {
    const { slug } = await createTeamWithPage();
    const { id } = await bookAt(slug, NINE);
    for (const time of [at('2026-06-15T12:00:00Z'), at('2027-06-15T12:00:01Z')]) {
      const { status, body } = await rescheduleByTeam(team.owner.token, id, time);
      const message = 'starts_at must be within the next 365 days';
      expect([status, body.issues]).toEqual([400, [{ path: 'starts_at', message }]]);
    }
  });

  test('is rejected for an admin who is demoted while the request waits for the lock', async () => {
    const { slug } = await createTeamWithPage();
    const { id } = await bookAt(slug, NINE);
    const { db } = app.services;
    await db.bookingPage.updateMany({ where: { workspaceId: team.id }, data: { userId: team.owner.id } });
    const demote = `update members set role = 'member' where workspace_id = $1 and user_id = $2`;
    const { status } = await changeWhileBlocked(
      app,
      `select from workspaces where id = ${team.id} for update`,
      () => rescheduleByTeam(team.admin.token, id, NINE + HALF_HOUR),
      (client) => client.query(demote, [team.id, team.admin.id]),
    );
    expect([status, await activeStarts()]).toEqual([403, [NINE]]);
  });
});

describe('at the same time', () => {
  test('one of several meetings that move to one time gets it', async () => {
    const { slug } = await createTeamWithPage();
    const booked: Booked[] = [];
    for (let guest = 0; guest < 8; guest += 1) booked.push(await bookAt(slug, NINE + guest * HALF_HOUR, `G ${guest}`));
    const target = NINE + 10 * HALF_HOUR;
    const answers = await concurrently(8, (index) => {
      const { id, cancel_token } = booked[index] ?? { id: 0, cancel_token: '' };
      return index % 2
        ? reschedule(app, slug, cancel_token, target)
        : rescheduleByTeam(team.owner.token, id, target + 60 * (index - 4));
    });
    expect(countStatuses(answers)).toEqual({ 200: 1, 409: 7 });
    expect(new Set(await activeStarts()).size).toBe(8);
  });

  test('a time goes either to a guest who books it or to a meeting that moves there, in two workspaces', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { slug } = await createTeamWithPage({});
      const { workspace } = (await app.http.post('/api/workspaces', team.admin.token, { name: 'Second' })).body;
      const second = await createPage(app, { ...team, path: `/api/workspaces/${workspace.id}` }, { title: 'Second' });
      const { cancel_token } = await bookAt(slug, NINE);
      const target = NINE + 4 * HALF_HOUR;
      const answers = await Promise.all([
        reschedule(app, slug, cancel_token, target),
        book(app, slug, target, 'Walt'),
        book(app, second.slug, target, 'Xena'),
      ]);
      expect(countStatuses(answers)).toEqual({ 200: 1, 409: 2 });
    }
  });

  test('moving and cancelling a meeting leave it cancelled, and its room is gone or has the last time', async () => {
    const { slug } = await createTeamWithPage();
    for (let round = 0; round < 5; round += 1) {
      const { cancel_token, room_name } = await bookAt(slug, NINE, `Guest ${round}`);
      const [moved, cancelled] = await Promise.all([
        reschedule(app, slug, cancel_token, NINE + HALF_HOUR),
        cancel(app, slug, cancel_token),
      ]);
      expect(cancelled.status).toBe(200);
      if (moved.status !== 200) expect(moved.body.message).toBe('The booking is cancelled');
      const { booking } = (await lookUp(app, slug, cancel_token)).body;
      expect([booking.status, booking.sequence]).toEqual(['cancelled', moved.status === 200 ? 2 : 1]);
      expect((await app.http.get(`/api/dashboard/rooms/${room_name}`, team.admin.token)).status).toBe(404);
    }
    expect(await activeStarts()).toEqual([]);
  });

  test('two moves of one meeting both happen, one after the other', async () => {
    const { slug } = await createTeamWithPage();
    const { cancel_token, room_name } = await bookAt(slug, NINE);
    const answers = await Promise.all(
      [1, 2, 3].map((step) => reschedule(app, slug, cancel_token, NINE + step * HALF_HOUR)),
    );
    expect(countStatuses(answers)).toEqual({ 200: 3 });
    const { booking } = (await lookUp(app, slug, cancel_token)).body;
    expect(booking.sequence).toBe(3);
    const { room } = (await app.http.get(`/api/dashboard/rooms/${room_name}`, team.admin.token)).body;
    expect(room.scheduled_at).toBe(booking.starts_at);
  });

  test('a meeting whose host leaves moves in the calendar of the next host', async () => {
    const { slug } = await createTeamWithPage();
    const { workspace } = (await app.http.post('/api/workspaces', team.owner.token, { name: 'Second' })).body;
    const second = { ...team, path: `/api/workspaces/${workspace.id}` };
    const own = await createPage(app, second, { title: 'Page of the owner' }, team.owner);
    const { cancel_token } = await bookAt(slug, NINE);
    await bookAt(own.slug, NINE + HALF_HOUR, 'Walt');
    const answer = await changeWhileBlocked(
      app,
      `select from workspaces where id = ${team.id} for update`,
      () => reschedule(app, slug, cancel_token, NINE + HALF_HOUR),
      (client) =>
        client.query('update booking_pages set user_id = $2 where workspace_id = $1', [team.id, team.owner.id]),
    );
    expect([answer.status, answer.body.message]).toEqual([409, 'This time is not available']);
  });
});
