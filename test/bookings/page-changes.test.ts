/** Booking a page that changes while the booking waits for the workspace's lock. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Answer } from '../support/http.ts';
import { changeWhileBlocked } from '../support/lock-waits.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { at, book, createPage } from './pages.ts';

const NINE = at('2026-06-16T09:00:00Z');

let app: TestApp;
let team: Team;
let page: { id: number; slug: string };
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date('2026-06-15T12:00:00Z') });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await addTeam(app);
  page = await createPage(app, team);
});

/** Books the page, and runs these statements once the booking waits for the lock. */
function bookWhile(...statements: (readonly [sql: string, ...values: unknown[]])[]): Promise<Answer> {
  return changeWhileBlocked(
    app,
    `select from workspaces where id = ${team.id} for update`,
    () => book(app, page.slug, NINE),
    async (client) => {
      for (const [sql, ...values] of statements) await client.query(sql, values);
    },
  );
}

function countBookings(bookingPageId: number): Promise<number> {
  return app.services.db.booking.count({ where: { bookingPageId } });
}

test('the meeting has the length that the page has once the lock is acquired', async () => {
  const { status, body } = await bookWhile(['update booking_pages set duration = 60 where id = $1', page.id]);
  expect([status, body.booking.ends_at]).toEqual([200, NINE + 3_600]);
});

test('a page that closes before the lock is acquired is not booked', async () => {
  const { status, body } = await bookWhile([`update booking_pages set hours = '[]' where id = $1`, page.id]);
  expect([status, body.message]).toEqual([409, 'This time is not available']);
  expect(await countBookings(page.id)).toBe(0);
});

test('the room belongs to the host that the page has once the lock is acquired', async () => {
  const { owner } = team;
  const { body } = await bookWhile(['update booking_pages set user_id = $2 where id = $1', page.id, owner.id]);
  const { rooms } = (await app.http.get('/api/dashboard/rooms', owner.token)).body;
  expect(rooms).toMatchObject([{ name: body.booking.room_name, user_id: owner.id }]);
});

test('a page that is deleted before the lock is acquired is not found', async () => {
  const { status, body } = await bookWhile(['delete from booking_pages where id = $1', page.id]);
  expect([status, body.message]).toEqual([404, 'Booking page not found']);
});

test('a page that changes its slug before the lock is acquired is not booked', async () => {
  const { status, body } = await bookWhile(['update booking_pages set slug = $2 where id = $1', page.id, 'renamed']);
  expect([status, body.message]).toEqual([404, 'Booking page not found']);
  expect(await countBookings(page.id)).toBe(0);
});

test('the page that has the slug once the lock is acquired is booked', async () => {
  const next = await createPage(app, team, { title: 'Next' });
  const { status, body } = await bookWhile(
    ['update booking_pages set slug = $2 where id = $1', page.id, `old-${page.slug}`],
    ['update booking_pages set slug = $2 where id = $1', next.id, page.slug],
  );
  expect([status, body.booking.title]).toEqual([200, 'Next']);
  expect([await countBookings(page.id), await countBookings(next.id)]).toEqual([0, 1]);
});

test('a slug that passes to another workspace before the lock is acquired is not booked there', async () => {
  const next = await createPage(app, await addTeam(app), { title: 'Next' });
  const { status, body } = await bookWhile(
    ['update booking_pages set slug = $2 where id = $1', page.id, `old-${page.slug}`],
    ['update booking_pages set slug = $2 where id = $1', next.id, page.slug],
  );
  expect([status, body.message]).toEqual([404, 'Booking page not found']);
  expect([await countBookings(page.id), await countBookings(next.id)]).toEqual([0, 0]);
});
