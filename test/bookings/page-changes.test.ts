/** Booking a page that changes while the booking waits for the workspace's lock. */
import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '../support/http.ts';
import { changeWhileBlocked, waitForLockWait } from '../support/lock-waits.ts';
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

test('a page of a workspace that is deleted while a booking waits is not found', async () => {
  const deletion = `delete from workspaces where id = ${team.id}`;
  const { status, body } = await changeWhileBlocked(app, deletion, () => book(app, page.slug, NINE));
  expect([status, body.message]).toEqual([404, 'Booking page not found']);
});

test.each(['commit', 'rollback'] as const)('a host who is leaving gets no meeting (%s)', async (end) => {
  const { admin, owner } = team;
  const { body } = await changeWhileBlocked(
    app,
    `delete from members where workspace_id = ${team.id} and user_id = ${admin.id}`,
    () => book(app, page.slug, NINE),
    (client) => client.query('update booking_pages set user_id = $2 where id = $1', [page.id, owner.id]),
    end,
  );
  const room = await app.services.db.room.findUniqueOrThrow({ where: { name: body.booking.room_name } });
  expect(room.userId).toBe(end === 'commit' ? owner.id : admin.id);
});

test('a host who leaves while a meeting is being booked passes it on', async () => {
  const { admin, owner } = team;
  // Holds up the booking after it has locked the membership.
  const sameContact = `insert into contacts (workspace_id, name, email, created_at)
    values (${team.id}, 'Vera', 'vera@example.com', now())`;
  let left: Promise<Answer> | undefined;
  const leave = () => {
    left = app.http.delete(`${team.path}/members/${admin.id}`, admin.token);
    return waitForLockWait(app, 2);
  };
  const { body } = await changeWhileBlocked(app, sameContact, () => book(app, page.slug, NINE), leave, 'rollback');
  expect((await left)?.status).toBe(200);
  const room = await app.services.db.room.findUniqueOrThrow({ where: { name: body.booking.room_name } });
  const { userId } = await app.services.db.booking.findFirstOrThrow({ where: { id: body.booking.id } });
  expect([room.userId, userId]).toEqual([owner.id, owner.id]);
});

test('a host can be removed while bookings wait for the calendar', async () => {
  const { admin, owner } = team;
  const results = await changeWhileBlocked(
    app,
    `select from users where id = ${admin.id} for no key update`,
    () => Promise.all(['Vera', 'Walt', 'Xena'].map((name) => book(app, page.slug, NINE, name))),
    async () => {
      await waitForLockWait(app, 3);
      expect((await app.http.delete(`${team.path}/members/${admin.id}`, owner.token)).status).toBe(200);
    },
  );
  expect(results.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  expect(await app.services.db.booking.findMany({ select: { userId: true } })).toContainEqual({ userId: owner.id });
});

describe('while the removal of the host is not committed', () => {
  const removal = () => `delete from members where workspace_id = ${team.id} and user_id = ${team.admin.id}`;
  const passOn = (client: Client) =>
    client.query('update booking_pages set user_id = $2 where id = $1', [page.id, team.owner.id]);
  const hostsOf = () =>
    app.services.db.booking.findMany({ where: { bookingPageId: page.id }, select: { userId: true } });

  test('a booking waits, and is then made with the next host', async () => {
    const { status } = await changeWhileBlocked(app, removal(), () => book(app, page.slug, NINE), passOn);
    expect([status, await hostsOf()]).toEqual([200, [{ userId: team.owner.id }]]);
  });

  test('a booking waits, and is made with the host if the removal is rolled back', async () => {
    const { status } = await changeWhileBlocked(app, removal(), () => book(app, page.slug, NINE), passOn, 'rollback');
    expect([status, await hostsOf()]).toEqual([200, [{ userId: team.admin.id }]]);
  });
});
