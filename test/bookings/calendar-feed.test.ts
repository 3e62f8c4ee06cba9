/** The address of a host's calendar feed, and what is in the file. */
import ICAL from 'ical.js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockAccount, unlockAccount } from '../../src/features/auth/operator.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { at, book, cancel, createPage, reschedule } from './pages.ts';

const now = new Date('2026-06-15T08:00:00Z');
const start = at('2026-06-17T10:00:00Z');

let app: TestApp;
let team: Team;
beforeEach(async () => {
  app = await startTestApp({ frozenAt: now });
  team = await addTeam(app);
});
afterEach(() => app.close());

const FEED = '/api/auth/calendar-feed';

/** Creates the feed of the admin, or changes its address. Returns the path. */
async function createFeed(): Promise<string> {
  const { status, body } = await app.http.post(FEED, team.admin.token);
  expect(status).toBe(200);
  return new URL(body.feed.url).pathname;
}

function read(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(app.url + path, { headers });
}

/** The entries of the file, in its order. */
async function readEntries(path: string): Promise<{ uid: string; startsAt: number }[]> {
  const file = await (await read(path)).text();
  return ICAL.Component.fromString(file)
    .getAllSubcomponents('vevent')
    .map((event) => new ICAL.Event(event))
    .map(({ uid, startDate }) => ({ uid, startsAt: startDate.toUnixTime() }));
}

const statusOf = async (path: string): Promise<number> => (await read(path)).status;
const logOf = async (): Promise<string[]> =>
  (await app.http.get('/api/auth/log', team.admin.token)).body.events.map(({ action }: { action: string }) => action);

test('a new address replaces the old one at once, also if several are asked for at a time', async () => {
  const first = await createFeed();
  const second = await createFeed();
  expect([await statusOf(first), await statusOf(second)]).toEqual([404, 200]);
  app.clock.advance(60_000);
  const raced = await Promise.all([1, 2, 3].map(createFeed));
  expect((await Promise.all([second, ...raced].map(statusOf))).sort()).toEqual([200, 404, 404, 404]);
  expect((await app.http.get(FEED, team.admin.token)).body.feed.created_at).toBe(now.getTime() / 1_000 + 60);
  expect((await logOf()).filter((action) => action === 'calendar_feed_created')).toHaveLength(5);
});

test('an address stops working when the feed is deleted, and while its account is locked', async () => {
  const path = await createFeed();
  const others = await app.http.post(FEED, team.owner.token);
  await lockAccount(app.services, team.admin.email);
  expect(await statusOf(path)).toBe(404);
  await unlockAccount(app.services, team.admin.email);
  expect(await statusOf(path)).toBe(200);

  const { email } = team.admin;
  const credentials = { email, password: 'correct horse battery staple' };
  const { token } = (await app.http.post('/api/auth/login', undefined, credentials)).body;
  for (let call = 0; call < 2; call += 1)
    expect(await app.http.delete(FEED, token)).toMatchObject({ status: 200, body: { ok: true } });
  expect(await statusOf(path)).toBe(404);
  expect((await app.http.get(FEED, token)).body.feed).toBeNull();
  expect(await statusOf(new URL(others.body.feed.url).pathname)).toBe(200);
  expect(await statusOf(path.replace('.ics', 'x.ics'))).toBe(404);
});

test('a program that has the file gets 304 until a booking changes', async () => {
  const page = await createPage(app, team);
  const path = await createFeed();
  const { body } = await book(app, page.slug, start);
  const token = body.booking.cancel_token;
  let etag = '';
  const expectNew = async (): Promise<void> => {
    const answer = await read(path, { 'if-none-match': etag });
    expect([answer.status, (await answer.text()).slice(0, 15)]).toEqual([200, 'BEGIN:VCALENDAR']);
    etag = answer.headers.get('etag') ?? '';
    app.clock.advance(60_000);
    const again = await read(path, { 'if-none-match': etag });
    expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
  };
  await expectNew();
  await reschedule(app, page.slug, token, start + 3_600);
  await expectNew();
  await app.http.delete(`/api/dashboard/rooms/${body.booking.room_name}`, team.admin.token);
  await expectNew();
  expect(await readEntries(path)).toEqual([]);
});

test('the file has the next 1,000 bookings that take place and have not ended', async () => {
  const page = await createPage(app, team);
  const path = await createFeed();
  const confirming = await createPage(app, team, { slug: 'confirming', confirm_email: true });
  await book(app, confirming.slug, start);
  const cancelled = await book(app, page.slug, start + 3_600);
  await cancel(app, page.slug, cancelled.body.booking.cancel_token);
  // From ten days ago on, one every half hour: the one that has just begun is in the file, earlier ones are not.
  await app.services.db.$executeRaw`
    insert into bookings (workspace_id, booking_page_id, user_id, name, email, mailbox, token_hash, starts_at, ends_at,
      created_at)
    select ${team.id}::int, ${page.id}::int, ${team.admin.id}::int, 'Vera', 'vera@example.com', 'vera@example.com',
      sha256(n::text::bytea), t, t + interval '30 minutes', ${now}
    from generate_series(0, 1999) n,
      lateral (select ${new Date(now.getTime() - 60_000)}::timestamptz + n * interval '30 minutes'
        - interval '10 days' as t)
    where not t between ${new Date(start * 1_000 - 3_600_000)} and ${new Date(start * 1_000 + 7_200_000)}`;
  const times = (await readEntries(path)).map(({ startsAt }) => startsAt);
  expect(times).toHaveLength(1_000);
  expect(times[0]).toBe(now.getTime() / 1_000 - 60);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  const between = times.filter((time) => time > start - 3_600 && time < start + 7_200);
  expect(between).toEqual([]);
});
