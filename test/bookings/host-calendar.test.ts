/** A host has one calendar, whatever the page and the workspace. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { at, book, cancel, createPage } from './pages.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date('2026-06-15T12:00:00Z') });
});
afterAll(() => app.close());

const NINE = at('2026-06-16T09:00:00Z');
const HALF_HOUR = 1_800;
const MORNING = `?from=${NINE}&to=${NINE + 2 * HALF_HOUR}`;

/** Another workspace of the team's owner, in the form of a team, so that pages can be created in it. */
async function addWorkspaceOf({ owner, ...rest }: Team): Promise<Team> {
  const { workspace } = (await app.http.post('/api/workspaces', owner.token, { name: 'Second' })).body;
  return { ...rest, owner, id: workspace.id, path: `/api/workspaces/${workspace.id}` };
}

/** A page of half an hour in one workspace of the owner, and one of an hour in another. */
async function createTwoPages(): Promise<[string, string]> {
  team = await addTeam(app);
  const second = await addWorkspaceOf(team);
  const intro = await createPage(app, team, {}, team.owner);
  const demo = await createPage(app, second, { title: 'Long demo', duration_minutes: 60 }, team.owner);
  return [intro.slug, demo.slug];
}

async function listTimes(slug: string): Promise<number[]> {
  return (await app.http.get(`/api/book/${slug}${MORNING}`)).body.times;
}

test('a time that is booked on one page is taken on all pages of the host, until it is cancelled', async () => {
  const [intro, demo] = await createTwoPages();
  const { body } = await book(app, intro, NINE + HALF_HOUR);
  expect(await listTimes(demo)).toEqual([]);
  const refused = await book(app, demo, NINE, 'Walt');
  expect([refused.status, refused.body.message]).toEqual([409, 'This time is not available']);
  await cancel(app, intro, body.booking.cancel_token);
  expect(await listTimes(demo)).toEqual([NINE]);
  expect((await book(app, demo, NINE, 'Walt')).status).toBe(200);
  expect(await listTimes(intro)).toEqual([]);
});

test('one of 12 guests gets the time that they want through two pages in two workspaces', async () => {
  const pages = await createTwoPages();
  const answers = await concurrently(12, (index) => book(app, pages[index % 2] ?? '', NINE, `Guest ${index}`));
  expect(countStatuses(answers)).toEqual({ 200: 1, 409: 11 });
  const active = await app.services.db.booking.count({ where: { userId: team.owner.id, cancelledAt: null } });
  expect(active).toBe(1);
});

test('another host is free at that time', async () => {
  const [intro] = await createTwoPages();
  const other = await createPage(app, team, { title: 'Other host' });
  await book(app, intro, NINE);
  expect((await book(app, other.slug, NINE, 'Walt')).status).toBe(200);
});

test('the database refuses an overlap on another page', async () => {
  const [intro, demo] = await createTwoPages();
  await book(app, intro, NINE);
  const page = await app.services.db.bookingPage.findUniqueOrThrow({ where: { slug: demo } });
  const inserting = app.services.db.$executeRaw`
    insert into bookings (workspace_id, booking_page_id, user_id, name, email, mailbox, token_hash, starts_at,
      ends_at, created_at)
    values (${page.workspaceId}, ${page.id}, ${page.userId}, 'Fast', 'fast@example.com', '', '',
      to_timestamp(${NINE - 60}), to_timestamp(${NINE + 60}), now())`;
  await expect(inserting).rejects.toThrow('bookings_one_calendar');
});

describe('when a page passes to a host who has a meeting at the same time', () => {
  /** The admin leaves. Their page passes to the owner, and both have a meeting at nine. */
  async function mergeCalendars() {
    team = await addTeam(app);
    const { slug } = await createPage(app, team, { title: 'Page of the admin' });
    const own = await createPage(app, await addWorkspaceOf(team), { title: 'Page of the owner' }, team.owner);
    const passing = (await book(app, slug, NINE)).body.booking;
    await book(app, slug, NINE + 4 * HALF_HOUR, 'Walt');
    const other = (await book(app, own.slug, NINE, 'Xena')).body.booking;
    const left = await app.http.delete(`${team.path}/members/${team.admin.id}`, team.admin.token);
    expect(left.status).toBe(200);
    return { slug, ownSlug: own.slug, passing, other };
  }

  async function listBookings() {
    return (await app.http.get(`${team.path}/bookings`, team.owner.token)).body.bookings;
  }

  test('both bookings stay and the list shows that they overlap', async () => {
    const { slug, passing, other } = await mergeCalendars();
    expect(await listBookings()).toMatchObject([
      { id: passing.id, cancelled_at: null, overlaps: 1 },
      { starts_at: NINE + 4 * HALF_HOUR, overlaps: 0 },
    ]);
    expect((await cancel(app, slug, other.cancel_token)).status).toBe(200);
    expect((await listBookings())[0]).toMatchObject({ id: passing.id, overlaps: 0 });
  });

  test('the time is taken on all pages until both are cancelled', async () => {
    const { slug, ownSlug, passing, other } = await mergeCalendars();
    expect([await listTimes(slug), await listTimes(ownSlug)]).toEqual([[NINE + HALF_HOUR], [NINE + HALF_HOUR]]);
    await cancel(app, slug, passing.cancel_token);
    expect((await book(app, slug, NINE, 'Yann')).status).toBe(409);
    await cancel(app, ownSlug, other.cancel_token);
    expect((await book(app, slug, NINE, 'Yann')).status).toBe(200);
    expect((await book(app, ownSlug, NINE, 'Zoe')).status).toBe(409);
  });

  test('the database refuses a new booking that overlaps one of them', async () => {
    const { slug } = await mergeCalendars();
    const page = await app.services.db.bookingPage.findUniqueOrThrow({ where: { slug } });
    expect(page.userId).toBe(team.owner.id);
    const inserting = app.services.db.$executeRaw`
      insert into bookings (workspace_id, booking_page_id, user_id, name, email, mailbox, token_hash, starts_at,
        ends_at, created_at)
      values (${page.workspaceId}, ${page.id}, ${page.userId}, 'Fast', 'fast@example.com', '', '',
        to_timestamp(${NINE}), to_timestamp(${NINE + 60}), now())`;
    await expect(inserting).rejects.toThrow('bookings_one_calendar');
  });

  test('while guests book on pages of both, all requests end and no pair overlaps without being marked', async () => {
    for (let round = 0; round < 3; round += 1) {
      team = await addTeam(app);
      const { slug } = await createPage(app, team, { title: 'Page of the admin' });
      const own = await createPage(app, await addWorkspaceOf(team), { title: 'Page of the owner' }, team.owner);
      const [left, ...booked] = await Promise.all([
        app.http.delete(`${team.path}/members/${team.admin.id}`, team.admin.token),
        ...Array.from({ length: 12 }, (_, index) => {
          const time = NINE + Math.floor(index / 2) * HALF_HOUR;
          return book(app, index % 2 ? slug : own.slug, time, `Guest ${index}`);
        }),
      ]);
      expect(left.status).toBe(200);
      expect(booked.every(({ status }) => status === 200 || status === 409)).toBe(true);
      const unmarked = await app.services.db.$queryRaw<unknown[]>`
        select b.id from bookings b join bookings o on o.user_id = b.user_id and o.id <> b.id
          and o.starts_at < b.ends_at and o.ends_at > b.starts_at
        where b.user_id = ${team.owner.id} and not (b.may_overlap and o.may_overlap)`;
      expect(unmarked).toEqual([]);
    }
  });
});
