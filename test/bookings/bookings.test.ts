/** Booking, cancelling and listing meetings. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../src/core/time.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { eventsOf } from '../support/events.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { at, book, cancel, createPage, officeHours } from './pages.ts';

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

async function createTeamWithPage(input = {}): Promise<string> {
  team = await addTeam(app);
  return (await createPage(app, team, input)).slug;
}

async function oneByOne<Result>(times: number, work: (index: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let index = 0; index < times; index += 1) results.push(await work(index));
  return results;
}

async function listTimes(slug: string, query = ''): Promise<number[]> {
  const { status, body } = await app.http.get(`/api/book/${slug}${query}`);
  expect(status).toBe(200);
  return body.times;
}

describe('available times', () => {
  test('are those of the next two weeks by default, or of the range, without taken times', async () => {
    const slug = await createTeamWithPage();
    const { body } = await app.http.get(`/api/book/${slug}`);
    const about = { title: 'Intro call', description: null, host_name: 'Adam Admin' };
    const branding = { color: null, logo_url: null, imprint_url: null, privacy_url: null, language: null };
    expect(body.page).toEqual({ ...about, slug, duration_minutes: 30, time_zone: 'UTC', branding });
    expect([body.times.length, body.times[0], body.times.at(-1)]).toEqual([
      14 * 16,
      at('2026-06-15T12:00:00Z'),
      at('2026-06-29T11:30:00Z'),
    ]);
    const day = `?from=${NINE}&to=${NINE + 3_600}`;
    expect(await listTimes(slug, day)).toEqual([NINE, NINE + HALF_HOUR]);
    await book(app, slug, NINE);
    expect(await listTimes(slug, day)).toEqual([NINE + HALF_HOUR]);
  });

  test.each([
    [`?from=${NINE}&to=${NINE}`],
    [`?from=${NINE}&to=${NINE - 1}`],
    [`?from=${NINE}&to=${NINE + 62 * 86_400 + 1}`],
    ['?to=1781524800'],
  ])('of the invalid range %s are rejected with 400', async (query) => {
    const slug = await createTeamWithPage();
    const { status, body } = await app.http.get(`/api/book/${slug}${query}`);
    const message = '`to` must be after `from` and at most 62 days later';
    expect([status, body.message, body.issues]).toEqual([400, message, [{ path: 'to', message }]]);
    expect(await listTimes(slug, `?from=${NINE}&to=${NINE + 62 * 86_400}`)).toHaveLength(62 * 16);
  });

  test('end 365 days from now, and no later time can be booked', async () => {
    const slug = await createTeamWithPage();
    const horizon = at('2027-06-15T12:00:00Z');
    expect(await listTimes(slug, `?from=${horizon - 3_600}&to=${horizon + 86_400}`)).toEqual([
      horizon - 2 * HALF_HOUR,
      horizon - HALF_HOUR,
      horizon,
    ]);
    const lastSecond = 253_402_300_799;
    for (const from of [horizon + 1, horizon + 10 * 86_400, lastSecond - 86_400])
      expect(await listTimes(slug, `?from=${from}&to=${from + 86_400}`)).toEqual([]);
    for (const time of [horizon + HALF_HOUR, lastSecond + 1 - 7 * 3_600 - HALF_HOUR, lastSecond]) {
      const { status, body } = await book(app, slug, time);
      expect([status, body.message]).toEqual([409, 'This time is not available']);
    }
    expect((await book(app, slug, horizon)).status).toBe(200);
    const listed = await app.http.get(`${team.path}/bookings`, team.member.token);
    expect(listed.body.bookings).toMatchObject([{ starts_at: horizon }]);
  });

  test.each(['no-such-page', 'A', '%00', 'x'.repeat(200), '%F0%9F%98%80'])(
    'of the unknown page %s are not found',
    async (slug) => {
      const read = await app.http.get(`/api/book/${slug}`);
      expect([read.status, read.body.message]).toEqual([404, 'Booking page not found']);
      const booked = await book(app, slug, NINE);
      expect([booked.status, booked.body.message]).toEqual([404, 'Booking page not found']);
    },
  );

  test('follow the local time of the page across both changes of daylight saving time', async () => {
    const slug = await createTeamWithPage({
      time_zone: 'Europe/Berlin',
      duration_minutes: 60,
      hours: [{ day: 'sunday', from: '01:00', to: '04:00' }],
    });
    const starts = async (day: string): Promise<string[]> => {
      const from = at(`${day}T00:00:00Z`) - 43_200;
      return (await listTimes(slug, `?from=${from}&to=${from + 2 * 86_400}`)).map((time) =>
        new Date(time * 1_000).toISOString().slice(11, 16),
      );
    };
    // In March the clocks go from 02:00 to 03:00, in October from 03:00 to 02:00.
    expect(await starts('2026-10-18')).toEqual(['23:00', '00:00', '01:00']);
    expect(await starts('2026-10-25')).toEqual(['23:00', '00:00', '01:00', '02:00']);
    expect(await starts('2027-03-28')).toEqual(['00:00', '01:00']);
    const { status, body } = await book(app, slug, at('2026-10-25T01:00:00Z'));
    expect([status, body.booking.ends_at]).toEqual([200, at('2026-10-25T02:00:00Z')]);
    expect(await starts('2026-10-25')).toEqual(['23:00', '00:00', '02:00']);
    expect((await book(app, slug, at('2027-03-28T02:00:00Z'))).status).toBe(409);
  });
});

describe('a booking', () => {
  test('takes the time zone of any browser, and may do without it', async () => {
    const slug = await createTeamWithPage({ time_zone: '+05:30' });
    // 09:00 there.
    const first = at('2026-06-17T03:30:00Z');
    for (const [index, time_zone] of ['-03:30', 'Etc/Unknown', null, undefined, 'Etc/GMT+5'].entries()) {
      const { status, body } = await app.http.post(`/api/book/${slug}`, undefined, {
        name: 'Vera',
        email: `vera${index}@example.com`,
        starts_at: first + index * HALF_HOUR,
        time_zone,
      });
      const stored = time_zone === 'Etc/Unknown' ? null : (time_zone ?? null);
      expect([status, body.booking?.time_zone]).toEqual([200, stored]);
    }
    expect((await book(app, slug, first - HALF_HOUR)).status).toBe(409);
  });

  test('creates a scheduled room for the host, a contact, and an event that analytics counts', async () => {
    const slug = await createTeamWithPage();
    const { status, body } = await app.http.post(`/api/book/${slug}`, undefined, {
      name: ' Vera Novak ',
      email: ' Vera@Example.com ',
      starts_at: NINE,
      time_zone: 'Europe/Prague',
    });
    const { id, uid, room_name, cancel_token, manage_url, cancel_url } = body.booking;
    expect([status, body.booking]).toEqual([
      200,
      {
        id,
        uid,
        title: 'Intro call',
        slug,
        host_name: 'Adam Admin',
        starts_at: NINE,
        ends_at: NINE + HALF_HOUR,
        name: 'Vera Novak',
        time_zone: 'Europe/Prague',
        room_name,
        status: 'confirmed',
        awaits: null,
        cancelled_at: null,
        sequence: 0,
        cancel_token,
        manage_url,
        cancel_url,
      },
    ]);
    expect(manage_url).toBe(`https://app.example.com/book/${slug}/booking#token=${cancel_token}`);
    expect(cancel_url).toBe(`https://app.example.com/book/${slug}/cancel?token=${cancel_token}`);
    expect(cancel_token).toMatch(/^lnb_[A-Za-z0-9_-]{43}$/);
    const { rooms } = (await app.http.get('/api/dashboard/rooms', team.admin.token)).body;
    const room = {
      name: room_name,
      user_id: team.admin.id,
      display_name: 'Intro call: Vera Novak',
      scheduled_at: NINE,
      waiting_room_enabled: 1,
    };
    expect(rooms).toMatchObject([{ ...room, workspace_id: team.id }]);
    expect(await eventsOf(app, team.id, 'room.created')).toMatchObject([
      { data: { room_name, created_by: 'Adam Admin', created_by_id: team.admin.id, scheduled_at: NINE } },
    ]);
    const { contacts } = (await app.http.get(`${team.path}/contacts`, team.member.token)).body;
    expect(contacts).toMatchObject([{ name: 'Vera Novak', email: 'vera@example.com' }]);
    const read = await app.http.get(`${team.path}/contacts/${contacts[0].id}`, team.member.token);
    expect(read.body.events).toMatchObject([{ type: 'booking', booking_page_title: 'Intro call', room_id: null }]);
    const { kpis, topBookingPages } = (await app.http.get(`${team.path}/analytics`, team.member.token)).body;
    expect([kpis.bookings, kpis.contacts, kpis.rooms]).toEqual([1, 1, 1]);
    expect(topBookingPages).toMatchObject([{ slug, count: 1 }]);
    const listed = await team.member.client.bookings.list.query({ id: team.id });
    expect(listed.bookings).toMatchObject([
      { id, title: 'Intro call', contact_id: contacts[0].id, email: 'vera@example.com', room_name, cancelled_at: null },
    ]);
  });

  test('is rejected if the time is taken, not offered, between two slots or past', async () => {
    const slug = await createTeamWithPage();
    await book(app, slug, NINE);
    for (const time of [NINE, NINE - HALF_HOUR, NINE + 60, at('2026-06-15T11:30:00Z'), 0]) {
      const { status, body } = await book(app, slug, time);
      expect([status, body.message]).toEqual([409, 'This time is not available']);
    }
    app.clock.advance(24 * HOUR_MS);
    try {
      expect((await book(app, slug, NINE + HALF_HOUR)).status).toBe(409);
    } finally {
      app.clock.advance(-24 * HOUR_MS);
    }
    expect(await app.services.db.room.count({ where: { workspaceId: team.id } })).toBe(1);
    expect(await app.services.db.contact.count({ where: { workspaceId: team.id } })).toBe(1);
  });

  test('succeeds once if 50 guests want the same time, with one room and one contact', async () => {
    const slug = await createTeamWithPage();
    const answers = await concurrently(50, (index) => book(app, slug, NINE, `Guest ${index}`));
    expect(countStatuses(answers)).toEqual({ 200: 1, 409: 49 });
    const where = { workspaceId: team.id };
    const { db } = app.services;
    expect([
      await db.booking.count({ where }),
      await db.room.count({ where }),
      await db.contact.count({ where }),
    ]).toEqual([1, 1, 1]);
    expect(await db.contactEvent.count({ where })).toBe(1);
  });

  test('never overlaps another one if 40 guests book and cancel eight times at once', async () => {
    const slug = await createTeamWithPage();
    const answers = await concurrently(40, async (index) => {
      const answer = await book(app, slug, NINE + (index % 8) * HALF_HOUR, `Guest ${index}`);
      if (answer.status === 200 && index % 2)
        expect((await cancel(app, slug, answer.body.booking.cancel_token)).status).toBe(200);
      return answer;
    });
    expect(Object.keys(countStatuses(answers)).sort()).toEqual(['200', '409']);
    const active = await app.services.db.booking.findMany({ where: { workspaceId: team.id, cancelledAt: null } });
    expect(new Set(active.map(({ startsAt }) => startsAt.getTime())).size).toBe(active.length);
    expect(await app.services.db.room.count({ where: { workspaceId: team.id } })).toBe(active.length);
  });

  test('is rejected by the exclusion constraint if another transaction books the time without the lock', async () => {
    const slug = await createTeamWithPage();
    const page = await app.services.db.bookingPage.findUniqueOrThrow({ where: { slug } });
    const { status, body } = await changeWhileBlocked(
      app,
      `insert into bookings (workspace_id, booking_page_id, user_id, name, email, mailbox, token_hash, starts_at,
         ends_at, created_at)
       values (${team.id}, ${page.id}, ${page.userId}, 'Fast', 'fast@example.com', '', '', to_timestamp(${NINE} + 600),
         to_timestamp(${NINE} + 2400), now())`,
      () => book(app, slug, NINE),
      async () => {},
    );
    expect([status, body.message]).toEqual([409, 'This time is not available']);
    expect(await app.services.db.room.count({ where: { workspaceId: team.id } })).toBe(0);
  });

  test('is rejected for an email address with three upcoming bookings on the page', async () => {
    const slug = await createTeamWithPage();
    const answers = await concurrently(12, (index) => book(app, slug, NINE + index * HALF_HOUR));
    expect(countStatuses(answers)).toEqual({ 200: 3, 409: 9 });
    for (const { status, body } of answers)
      if (status === 409) expect(body.message).toBe('This email address already has 3 upcoming bookings on this page');
    const { db } = app.services;
    expect(await db.room.count({ where: { workspaceId: team.id } })).toBe(3);
    const evening = NINE + 13 * HALF_HOUR;
    expect((await book(app, slug, evening, 'VERA')).status).toBe(409);
    expect((await book(app, slug, evening, 'Walt')).status).toBe(200);
    const other = await createPage(app, team, { title: 'Other' });
    expect((await book(app, other.slug, evening + HALF_HOUR)).status).toBe(200);
    const booked = answers.filter(({ status }) => status === 200).map(({ body }) => body.booking);
    await cancel(app, slug, booked[0].cancel_token);
    expect((await book(app, slug, evening + 2 * HALF_HOUR)).status).toBe(200);
    // All bookings but the last have started.
    app.clock.advance(27.5 * HOUR_MS);
    try {
      expect((await book(app, slug, NINE + 24 * 3_600)).status).toBe(200);
    } finally {
      app.clock.advance(-27.5 * HOUR_MS);
    }
  });

  test('has a room in which a stranger who guesses its name has to wait', async () => {
    const slug = await createTeamWithPage();
    const { room_name } = (await book(app, slug, NINE)).body.booking;
    const stranger = await app.http.post(`/api/rooms/${room_name}/join`, undefined, { name: 'Vera' });
    expect([stranger.status, stranger.body.participant.status]).toEqual([200, 'waiting']);
    const host = await app.http.post(`/api/rooms/${room_name}/join`, team.admin.token, {});
    expect([host.status, host.body.participant.status]).toEqual([200, 'joined']);
  });

  test('is rejected by the database if it would end in the year 9999 or later', async () => {
    const slug = await createTeamWithPage();
    const page = await app.services.db.bookingPage.findUniqueOrThrow({ where: { slug } });
    const inserting = app.services.db.$executeRaw`
      insert into bookings (workspace_id, booking_page_id, user_id, name, email, mailbox, token_hash, starts_at,
        ends_at, created_at)
      values (${team.id}, ${page.id}, ${page.userId}, 'Far', 'far@example.com', '', '',
        '9998-12-31T23:30:00Z', '9999-01-01T00:00:00Z', now())`;
    await expect(inserting).rejects.toThrow('bookings_end_check');
  });

  test.each([
    ['n'.repeat(100), 'n'.repeat(100)],
    ['n'.repeat(97), `𝒯: ${'n'.repeat(97)}`],
    ['Vera', `${'𝒯'.repeat(94)}: Vera`],
  ])('cuts the display name of the room to 100 characters, and never the name of the guest: %s', async (name, cut) => {
    const slug = await createTeamWithPage({ title: '𝒯'.repeat(100) });
    const { status, body } = await app.http.post(`/api/book/${slug}`, undefined, {
      name,
      email: 'long@example.com',
      starts_at: NINE,
    });
    expect(status).toBe(200);
    const room = await app.http.get(`/api/dashboard/rooms/${body.booking.room_name}`, team.admin.token);
    expect(room.body.room.display_name).toBe(cut);
  });
});

describe('cancelling', () => {
  test('makes the time available, deletes the room, is counted, and changes nothing the second time', async () => {
    const slug = await createTeamWithPage();
    const { booking } = (await book(app, slug, NINE)).body;
    expect((await listTimes(slug, `?from=${NINE}&to=${NINE + 1}`)).length).toBe(0);
    const answers = await concurrently(10, () => cancel(app, slug, booking.cancel_token));
    expect(countStatuses(answers)).toEqual({ 200: 10 });
    expect(answers[0]?.body).toEqual({ ok: true });
    expect(await listTimes(slug, `?from=${NINE}&to=${NINE + 1}`)).toEqual([NINE]);
    expect((await app.http.get(`/api/dashboard/rooms/${booking.room_name}`, team.admin.token)).status).toBe(404);
    const events = await app.services.db.contactEvent.findMany({
      where: { workspaceId: team.id },
      orderBy: { id: 'asc' },
    });
    expect(events.map(({ type }) => type)).toEqual(['booking', 'booking_cancelled']);
    const { bookings } = (await app.http.get(`${team.path}/bookings`, team.member.token)).body;
    expect(bookings).toMatchObject([{ id: booking.id, room_name: null, cancelled_at: 1781524800 }]);
    expect((await book(app, slug, NINE)).status).toBe(200);
  });

  test('keeps a room in which somebody has been, and clears its scheduled time', async () => {
    const slug = await createTeamWithPage();
    const { room_name, cancel_token } = (await book(app, slug, NINE)).body.booking;
    const joined = await app.http.post(`/api/rooms/${room_name}/join`, undefined, { name: 'Early' });
    expect(joined.status).toBe(200);
    await cancel(app, slug, cancel_token);
    const { body } = await app.http.get(`/api/dashboard/rooms/${room_name}`, team.admin.token);
    expect([body.room.name, body.room.scheduled_at]).toEqual([room_name, null]);
  });

  test('while somebody joins the room either keeps the room or makes the join fail', async () => {
    const slug = await createTeamWithPage();
    await concurrently(8, async (index) => {
      const { room_name, cancel_token } = (await book(app, slug, NINE + index * HALF_HOUR, `Guest ${index}`)).body
        .booking;
      const [cancelled, joined] = await Promise.all([
        cancel(app, slug, cancel_token),
        app.http.post(`/api/rooms/${room_name}/join`, undefined, { name: 'Early' }),
      ]);
      expect(cancelled.status).toBe(200);
      const room = await app.http.get(`/api/dashboard/rooms/${room_name}`, team.admin.token);
      expect([joined.status, room.status]).toEqual(joined.status === 200 ? [200, 200] : [404, 404]);
    });
  });

  test('fails once the meeting has started', async () => {
    const slug = await createTeamWithPage();
    const { cancel_token } = (await book(app, slug, NINE)).body.booking;
    app.clock.advance(21 * HOUR_MS);
    try {
      const { status, body } = await cancel(app, slug, cancel_token);
      expect([status, body.message]).toEqual([409, 'The meeting has already started']);
      app.clock.advance(-1);
      expect((await cancel(app, slug, cancel_token)).status).toBe(200);
      app.clock.advance(1);
      // It is already cancelled.
      expect((await cancel(app, slug, cancel_token)).status).toBe(200);
    } finally {
      app.clock.advance(-21 * HOUR_MS);
    }
  });

  test('accepts only the exact token, of which the database stores only the hash', async () => {
    const slug = await createTeamWithPage();
    const { cancel_token: token, id } = (await book(app, slug, NINE)).body.booking;
    const { tokenHash } = await app.services.db.booking.findFirstOrThrow({ where: { workspaceId: team.id, id } });
    expect(Buffer.from(tokenHash)).toEqual(createHash('sha256').update(token).digest());
    const flipped = (token[20] === 'A' ? 'B' : 'A') + token.slice(21);
    for (const forged of [
      token.slice(0, 20) + flipped,
      `${token}A`,
      token.slice(1),
      token.replace('lnb_', 'lnp_'),
      `lnb_${Buffer.from(tokenHash).toString('base64url')}`,
      String(id),
      '',
      '\u0000',
    ]) {
      const { status, body } = await cancel(app, slug, forged);
      expect([forged, status, body.message]).toEqual([forged, 404, 'Booking not found']);
    }
    expect((await cancel(app, slug, token)).status).toBe(200);
  });

  test('works under any slug', async () => {
    team = await addTeam(app);
    const { id, slug } = await createPage(app, team);
    const tokens = [];
    for (const step of [0, 1, 2])
      tokens.push((await book(app, slug, NINE + step * HALF_HOUR, `Guest ${step}`)).body.booking.cancel_token);
    const renamed = `renamed-${team.id}`;
    await app.http.patch(`${team.path}/booking-pages/${id}`, team.admin.token, { slug: renamed });
    for (const [index, under] of [slug, renamed, 'no-such-page'].entries())
      expect((await cancel(app, under, tokens[index])).body).toEqual({ ok: true });
    expect(await listTimes(renamed, `?from=${NINE}&to=${NINE + 3 * HALF_HOUR}`)).toHaveLength(3);
  });
});

describe('cancelling by the workspace', () => {
  const pathOf = (id: number): string => `${team.path}/bookings/${id}/cancel`;

  test('is allowed for owners, admins and the host, with the same effects as by token', async () => {
    const slug = await createTeamWithPage();
    const meetings = [];
    for (const step of [0, 1, 2])
      meetings.push((await book(app, slug, NINE + step * HALF_HOUR, `Guest ${step}`)).body.booking);
    const [first, second, third] = meetings;
    const refused = await app.http.post(pathOf(first.id), team.member.token);
    expect([refused.status, refused.body.message]).toEqual([403, 'Forbidden']);
    expect((await app.http.post(pathOf(first.id), team.owner.token)).body).toEqual({ ok: true });
    expect((await app.http.post(pathOf(first.id), team.owner.token)).body).toEqual({ ok: true });
    expect(await team.admin.client.bookings.cancelByTeam.mutate({ id: team.id, bookingId: second.id })).toEqual({
      ok: true,
    });
    // The admin is still the host, but only a member.
    await app.http.patch(`${team.path}/members/${team.admin.id}`, team.owner.token, { role: 'member' });
    expect((await app.http.post(pathOf(third.id), team.admin.token)).body).toEqual({ ok: true });
    expect((await cancel(app, slug, first.cancel_token)).body).toEqual({ ok: true });
    expect(await listTimes(slug, `?from=${NINE}&to=${NINE + 3 * HALF_HOUR}`)).toHaveLength(3);
    const { db } = app.services;
    expect(await db.room.count({ where: { workspaceId: team.id } })).toBe(0);
    expect(await db.contactEvent.count({ where: { workspaceId: team.id, type: 'booking_cancelled' } })).toBe(3);
  });

  test('fails with 404 for an unknown booking and with 409 for a meeting that has started', async () => {
    const slug = await createTeamWithPage();
    const { id } = (await book(app, slug, NINE)).body.booking;
    const unknown = await app.http.post(pathOf(2_147_483_647), team.admin.token);
    expect([unknown.status, unknown.body.message]).toEqual([404, 'Booking not found']);
    app.clock.advance(21 * HOUR_MS);
    try {
      const { status, body } = await app.http.post(pathOf(id), team.admin.token);
      expect([status, body.message]).toEqual([409, 'The meeting has already started']);
    } finally {
      app.clock.advance(-21 * HOUR_MS);
    }
  });

  test('and by token at the same time cancels once', async () => {
    const slug = await createTeamWithPage();
    const { id, cancel_token } = (await book(app, slug, NINE)).body.booking;
    const answers = await concurrently(12, (index) =>
      index % 2 ? cancel(app, slug, cancel_token) : app.http.post(pathOf(id), team.admin.token),
    );
    expect(countStatuses(answers)).toEqual({ 200: 12 });
    const where = { workspaceId: team.id, type: 'booking_cancelled' };
    expect(await app.services.db.contactEvent.count({ where })).toBe(1);
  });

  test('is rejected for an admin who is demoted while the request waits for the lock', async () => {
    const slug = await createTeamWithPage();
    const { id } = (await book(app, slug, NINE)).body.booking;
    // Makes the owner the host, so that the admin needs the role.
    const { db } = app.services;
    await db.bookingPage.updateMany({ where: { workspaceId: team.id }, data: { userId: team.owner.id } });
    const demote = `update members set role = 'member' where workspace_id = $1 and user_id = $2`;
    const { status } = await changeWhileBlocked(
      app,
      `select from workspaces where id = ${team.id} for update`,
      () => app.http.post(pathOf(id), team.admin.token),
      (client) => client.query(demote, [team.id, team.admin.id]),
    );
    expect(status).toBe(403);
    expect(await db.booking.count({ where: { workspaceId: team.id, cancelledAt: null } })).toBe(1);
  });
});

test('the list contains the bookings of the range, earliest start first, a page at a time', async () => {
  const slug = await createTeamWithPage();
  for (const step of [3, 0, 2, 1]) await book(app, slug, NINE + step * HALF_HOUR, `Guest ${step}`);
  const names = async (query: string): Promise<string[]> =>
    (await app.http.get(`${team.path}/bookings?${query}`, team.member.token)).body.bookings.map(
      ({ name }: { name: string }) => name,
    );
  expect(await names('')).toEqual(['Guest 0', 'Guest 1', 'Guest 2', 'Guest 3']);
  expect(await names('limit=2&offset=1')).toEqual(['Guest 1', 'Guest 2']);
  expect(await names(`from=${NINE + HALF_HOUR}&to=${NINE + 3 * HALF_HOUR}`)).toEqual(['Guest 1', 'Guest 2']);
  const { slug: other } = await createPage(app, team, officeHours, team.owner);
  const mine = (await book(app, other, NINE, 'Guest of the owner')).body.booking;
  await cancel(app, other, mine.cancel_token);
  expect(await names(`host_id=${team.owner.id}`)).toEqual(['Guest of the owner']);
  expect(await names(`host_id=${team.owner.id}&status=confirmed`)).toEqual([]);
  expect(await names('status=cancelled')).toEqual(['Guest of the owner']);
  expect(await names(`host_id=${team.admin.id}&status=confirmed&limit=2`)).toEqual(['Guest 0', 'Guest 1']);
  expect(await names('host_id=0')).toEqual([]);
  const [first] = (await app.http.get(`${team.path}/bookings?status=confirmed`, team.member.token)).body.bookings;
  expect(first).toMatchObject({ host_id: team.admin.id, host_name: team.admin.name });
  await app.http.delete(`${team.path}/contacts/${first.contact_id}`, team.admin.token);
  await app.http.delete(`/api/dashboard/rooms/${first.room_name}`, team.admin.token);
  const [detached] = (await app.http.get(`${team.path}/bookings?host_id=${team.admin.id}`, team.member.token)).body
    .bookings;
  // A meeting without a room cannot take place.
  const gone = { status: 'cancelled', cancelled_at: detached.cancelled_at, sequence: 1 };
  expect(detached).toEqual({ ...first, contact_id: null, room_name: null, ...gone });
});

test('without `from` the list contains the bookings that have not ended', async () => {
  const slug = await createTeamWithPage();
  for (const step of [0, 1, 2]) await book(app, slug, NINE + step * HALF_HOUR, `Guest ${step}`);
  const names = async (query = ''): Promise<string[]> =>
    (await app.http.get(`${team.path}/bookings${query}`, team.member.token)).body.bookings.map(
      ({ name }: { name: string }) => name,
    );
  const half = 21.5 * HOUR_MS;
  app.clock.advance(half - 1);
  try {
    expect(await names()).toEqual(['Guest 0', 'Guest 1', 'Guest 2']);
    app.clock.advance(1);
    expect(await names()).toEqual(['Guest 1', 'Guest 2']);
    expect(await names('?from=0')).toEqual(['Guest 0', 'Guest 1', 'Guest 2']);
    expect(await names(`?from=0&to=${NINE + 1}`)).toEqual(['Guest 0']);
    app.clock.advance(1);
    expect(await names(`?to=${NINE + 2 * HALF_HOUR}`)).toEqual(['Guest 1']);
    app.clock.advance(-1);
  } finally {
    app.clock.advance(-half);
  }
  for (const query of [`?from=${NINE}&to=${NINE}`, `?from=${NINE}&to=${NINE - 1}`, '?to=0']) {
    const { status, body } = await app.http.get(`${team.path}/bookings${query}`, team.member.token);
    const message = '`to` must be after `from` (default: now)';
    expect([status, body.message, body.issues]).toEqual([400, message, [{ path: 'to', message }]]);
  }
});

test('concurrent bookings, joins and imports all succeed, and the sums of analytics are right', async () => {
  const slug = await createTeamWithPage();
  await app.http.post('/api/dashboard/rooms', team.admin.token, { name: `busy-${team.id}`, workspace_id: team.id });
  const bookings = concurrently(12, (index) => book(app, slug, NINE + index * HALF_HOUR, `Guest ${index % 4}`));
  const joins = concurrently(12, (index) =>
    app.http.post(`/api/rooms/busy-${team.id}/join`, undefined, {
      name: `Guest ${index % 4}`,
      email: `guest.${index % 4}@example.com`,
    }),
  );
  // A workspace has one import at a time.
  const imports = oneByOne(4, (index) =>
    app.http.call('POST', `${team.path}/contacts/import`, {
      token: team.admin.token,
      headers: { 'content-type': 'text/csv' },
      body: `email,name\n${['3', '0', '2', '1'].map((one) => `guest.${one}@example.com,Import ${index}\n`).join('')}`,
    }),
  );
  for (const { status } of [...(await bookings), ...(await joins), ...(await imports)]) expect(status).toBe(200);
  const { kpis, eventTypeBreakdown } = (await app.http.get(`${team.path}/analytics`, team.member.token)).body;
  expect([kpis.contacts, kpis.bookings]).toEqual([4, 12]);
  expect(eventTypeBreakdown).toContainEqual({ type: 'room_join', count: 12 });
});

test('the calls of one network are limited per page', async () => {
  const limited = await startTestApp({ limits: { perUser: 3 } });
  try {
    const one = await addTeam(limited);
    const { slug } = await createPage(limited, one, officeHours);
    const statuses = [];
    for (let call = 0; call < 4; call += 1) statuses.push((await limited.http.get(`/api/book/${slug}`)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const other = await createPage(limited, await addTeam(limited), officeHours);
    expect((await limited.http.get(`/api/book/${other.slug}`)).status).toBe(200);
  } finally {
    await limited.close();
  }
});
