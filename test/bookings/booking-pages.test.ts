/** Booking pages: fields, slugs, hosts and deletion. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { concurrently, countStatuses } from '../support/concurrently.ts';
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
  team = await addTeam(app);
});
afterAll(() => app.close());

test('a page has the fields that were sent and its creator as host; an update changes only what is sent', async () => {
  const { status, body } = await app.http.post(`${team.path}/booking-pages`, team.admin.token, officeHours);
  const { id } = body.bookingPage;
  const page = {
    id,
    workspace_id: team.id,
    user_id: team.admin.id,
    ...officeHours,
    description: null,
    minimum_notice_minutes: 0,
    buffer_before_minutes: 0,
    buffer_after_minutes: 0,
    max_per_day: null,
    days_off: [],
    confirm_email: false,
    notify_host: true,
    reminder_minutes: 1440,
    slug: 'intro-call',
    url: 'https://app.example.com/book/intro-call',
    created_at: 1781524800,
    updated_at: 1781524800,
  };
  expect([status, body]).toEqual([200, { bookingPage: page }]);
  app.clock.advance(5_000);
  const path = `${team.path}/booking-pages/${id}`;
  expect((await app.http.patch(path, team.owner.token, {})).body.bookingPage).toEqual(page);
  const mail = { confirm_email: true, notify_host: false, reminder_minutes: null };
  const change = { title: 'Demo', slug: 'demo', duration_minutes: 60, time_zone: 'Asia/Tokyo', hours: [], ...mail };
  const changed = { ...page, ...change, url: 'https://app.example.com/book/demo', updated_at: 1781524805 };
  expect((await app.http.patch(path, team.owner.token, change)).body.bookingPage).toEqual(changed);
  const only = { bookingPages: [changed] };
  expect(await team.member.client.bookingPages.list.query({ id: team.id })).toEqual(only);
  expect((await app.http.get('/api/book/intro-call')).body.message).toBe('Booking page not found');
  expect((await app.http.delete(path, team.admin.token)).body).toEqual({ ok: true });
  const after = await app.http.get(`${team.path}/booking-pages`, team.member.token);
  expect(after.body).toEqual({ bookingPages: [] });
});

describe('a slug', () => {
  test.each([
    ['Ümläut & Söhne', 'umlaut-sohne'],
    ['会议', 'meeting'],
    ['A', 'meeting-a'],
    ['x'.repeat(100), 'x'.repeat(50)],
  ])('is derived from the title %s', async (title, slug) => {
    expect((await createPage(app, team, { title })).slug).toBe(slug);
  });

  test('gets a number if another workspace has it', async () => {
    const other = await addTeam(app);
    const slugs = [];
    for (const one of [team, other, team]) slugs.push((await createPage(app, one, { title: 'Numbered' })).slug);
    expect(slugs).toEqual(['numbered', 'numbered-2', 'numbered-3']);
  });

  test('is different for each of 20 pages that are created with one title at once', async () => {
    const other = await addTeam(app);
    const pages = await concurrently(20, (index) => createPage(app, index % 2 ? team : other, { title: 'Popular' }));
    expect(new Set(pages.map(({ slug }) => slug)).size).toBe(20);
  });

  test('that several pages request at once goes to one of them', async () => {
    const other = await addTeam(app);
    const answers = await concurrently(20, (index) => {
      const { path, owner } = index % 2 ? team : other;
      return app.http.post(`${path}/booking-pages`, owner.token, { ...officeHours, slug: 'wanted' });
    });
    expect(countStatuses(answers)).toEqual({ 200: 1, 409: 19 });
    expect(answers.find(({ status }) => status === 409)?.body.message).toBe('Slug is already taken');
  });

  test('to which several pages change at once goes to one of them', async () => {
    const pages = await concurrently(6, () => createPage(app, team, { title: 'Rival' }));
    const answers = await Promise.all(
      pages.map(({ id }) => app.http.patch(`${team.path}/booking-pages/${id}`, team.owner.token, { slug: 'prize' })),
    );
    expect(countStatuses(answers)).toEqual({ 200: 1, 409: 5 });
  });
});

describe('the workspace owner becomes the host of the pages of a member', () => {
  const userOf = async (id: number): Promise<number> =>
    (await app.services.db.bookingPage.findFirstOrThrow({ where: { id } })).userId;

  test('who leaves, is removed or deletes the account', async () => {
    for (const leave of [
      (left: Team) => app.http.delete(`${left.path}/members/${left.admin.id}`, left.admin.token),
      (left: Team) => app.http.delete(`${left.path}/members/${left.admin.id}`, left.owner.token),
      (left: Team) => app.http.delete('/api/auth/me', left.admin.token),
    ]) {
      const left = await addTeam(app);
      const page = await createPage(app, left);
      expect(await userOf(page.id)).toBe(left.admin.id);
      expect((await leave(left)).status).toBe(200);
      expect(await userOf(page.id)).toBe(left.owner.id);
      const { body } = await book(app, page.slug, at('2026-06-16T09:00:00Z'));
      const rooms = await app.http.get('/api/dashboard/rooms', left.owner.token);
      expect(rooms.body.rooms).toMatchObject([{ name: body.booking.room_name, user_id: left.owner.id }]);
    }
  });

  test('who leaves while creating pages and while guests book', async () => {
    const left = await addTeam(app);
    const page = await createPage(app, left);
    const times = (await app.http.get(`/api/book/${page.slug}`)).body.times;
    const work = Promise.all([
      ...times.slice(0, 8).map((time: number, index: number) => book(app, page.slug, time, `Guest ${index}`)),
      ...Array.from({ length: 4 }, () =>
        app.http.post(`${left.path}/booking-pages`, left.admin.token, { ...officeHours, title: 'Meanwhile' }),
      ),
    ]);
    const [deleted, answers] = await Promise.all([app.http.delete('/api/auth/me', left.admin.token), work]);
    expect(deleted.status).toBe(200);
    for (const { status } of answers) expect([200, 401, 403]).toContain(status);
    const owners = await app.services.db.bookingPage.findMany({ where: { workspaceId: left.id } });
    expect(new Set(owners.map(({ userId }) => userId))).toEqual(new Set([left.owner.id]));
  });
});

test('a page with upcoming bookings cannot be deleted; past bookings are deleted with their page', async () => {
  const one = await addTeam(app);
  const { id, slug } = await createPage(app, one);
  const times = (await app.http.get(`/api/book/${slug}`)).body.times;
  const tokens = [];
  for (const time of [times[0], times[20]]) tokens.push((await book(app, slug, time)).body.booking.cancel_token);
  const remove = () => app.http.delete(`${one.path}/booking-pages/${id}`, one.admin.token);
  const refused = await remove();
  expect([refused.status, refused.body.message]).toEqual([409, 'The page has upcoming bookings: cancel them first']);
  expect(await app.services.db.booking.count({ where: { workspaceId: one.id } })).toBe(2);
  expect((await cancel(app, slug, tokens[1])).status).toBe(200);
  expect((await remove()).status).toBe(409);
  const before = app.clock.now().getTime();
  app.clock.advance(times[0] * 1_000 - before);
  try {
    expect((await remove()).body).toEqual({ ok: true });
  } finally {
    app.clock.advance(before - app.clock.now().getTime());
  }
  expect(await app.services.db.booking.count({ where: { workspaceId: one.id } })).toBe(0);
  expect((await cancel(app, slug, tokens[0])).body.message).toBe('Booking not found');
});

test('a page is either deleted or booked, if both happen at once', async () => {
  const one = await addTeam(app);
  for (let round = 0; round < 5; round += 1) {
    const { id, slug } = await createPage(app, one, { title: `Round ${round}` });
    const [time] = (await app.http.get(`/api/book/${slug}`)).body.times;
    const [deleted, booked] = await Promise.all([
      app.http.delete(`${one.path}/booking-pages/${id}`, one.admin.token),
      book(app, slug, time),
    ]);
    expect([deleted.status, booked.status]).toEqual(deleted.status === 200 ? [200, 404] : [409, 200]);
  }
});

test('a workspace that is deleted while its page is booked leaves no bookings', async () => {
  const { owner } = await addTeam(app);
  const { workspace } = await owner.client.workspaces.create.mutate({ name: 'Short-lived' });
  const short = { ...team, id: workspace.id, path: `/api/workspaces/${workspace.id}`, owner };
  const { slug } = await createPage(app, short, {}, owner);
  const times = (await app.http.get(`/api/book/${slug}`)).body.times;
  const [deleted, ...answers] = await Promise.all([
    app.http.delete(short.path, owner.token),
    ...times.slice(0, 8).map((time: number, index: number) => book(app, slug, time, `Guest ${index}`)),
  ]);
  expect(deleted.status).toBe(200);
  for (const { status, body } of answers)
    expect([200, 'Booking page not found']).toContain(status === 200 ? 200 : body.message);
  expect(await app.services.db.booking.count({ where: { workspaceId: workspace.id } })).toBe(0);
});

test('guests read who the host is, and what the page says; null and nothing but blanks say nothing', async () => {
  const page = await createPage(app, team, { title: 'Advice', description: ' First line\nsecond line ' });
  const read = async () => (await app.http.get(`/api/book/${page.slug}`)).body.page;
  expect(await read()).toMatchObject({ host_name: 'Adam Admin', description: 'First line\nsecond line' });
  const path = `${team.path}/booking-pages/${page.id}`;
  const change = (description: unknown) => app.http.patch(path, team.owner.token, { description });
  for (const nothing of [null, '', ' \n ']) {
    expect((await change(nothing)).body.bookingPage.description).toBeNull();
    expect((await read()).description).toBeNull();
  }
  expect((await change('x'.repeat(1_000))).status).toBe(200);
  const { status, body } = await change('x'.repeat(1_001));
  expect([status, body.issues[0].path]).toEqual([400, 'description']);
  const typed = await team.member.client.bookingPages.list.query({ id: team.id });
  expect(typed.bookingPages.find(({ id }) => id === page.id)?.description).toHaveLength(1_000);
});
