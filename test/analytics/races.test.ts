/** The sums of analytics under concurrent writes: nothing is lost or counted twice, and there are no deadlocks. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS } from '../../src/core/time.ts';
import { transact } from '../../src/db/client.ts';
import { createCounterFolder } from '../../src/db/counters.ts';
import { isForeignKeyViolation } from '../../src/db/errors.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { readAnalytics } from '../../src/features/analytics/read-analytics.ts';
import { recordContactEvent } from '../../src/features/contacts/record-contact-event.ts';
import { defaultQuotas } from '../../src/quotas/quotas.ts';
import { concurrently } from '../support/concurrently.ts';
import { findOrCreateContact } from '../support/contacts.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { countRows } from './count-rows.ts';
import {
  addSubjects,
  createRandom,
  type Random,
  recordAnyEvent,
  type Subjects,
  upsertAnyContact,
  upsertAnyContacts,
} from './history.ts';

const WRITERS = 8;
const TRANSACTIONS = 100;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

class RolledBack extends Error {}

/** Today or yesterday. With few days, writers compete for the same rows. */
function anyDay(random: Random): Date {
  return new Date(app.clock.now().getTime() - random.below(2) * DAY_MS);
}

/** Writes events and contacts in random order, and sometimes rolls back. Returns the number of attempts. */
async function writeOnce(team: Team, subjects: Subjects, random: Random): Promise<number> {
  let attempts = 0;
  const isRolledBack = random.below(5) === 0;
  const work = transact(app.services.db, async (tx) => {
    attempts += 1;
    const steps = 1 + random.below(4);
    // At any step, but once in a transaction.
    const stepWithContacts = random.below(6);
    for (let step = 0; step < steps; step += 1) {
      if (step === stepWithContacts) await upsertAnyContacts(tx, team, random, anyDay(random), 20);
      else await recordAnyEvent(tx, team, subjects, random, anyDay(random));
    }
    if (isRolledBack) throw new RolledBack();
  });
  if (isRolledBack) await expect(work).rejects.toThrow(RolledBack);
  else await work;
  return attempts;
}

/**
 * Repeatedly compares sums and rows in one snapshot until `done`, while two processes fold the counters. Returns the
 * number of comparisons.
 */
async function compareUntil(team: Team, done: Promise<unknown>): Promise<number> {
  let isDone = false;
  const end = done.finally(() => {
    isDone = true;
  });
  const folding = concurrently(2, async () => {
    const fold = createCounterFolder(app.services);
    while (!isDone) await fold();
  });
  let comparisons = 0;
  for (; !isDone; comparisons += 1)
    await app.services.db.$transaction(
      async (db) => {
        const sums = await readAnalytics({ db: { sql: sqlIn(db) }, clock: app.clock }, { workspaceId: team.id });
        expect(sums).toEqual(await countRows(db, team.id, app.clock.now()));
      },
      { isolationLevel: 'RepeatableRead' },
    );
  await end;
  await folding;
  return comparisons;
}

test('sums equal counts at every moment, and writers in any order never deadlock', async () => {
  const team = await addTeam(app);
  const subjects = await addSubjects(app, team);
  const writing = concurrently(WRITERS, async (writer) => {
    const random = createRandom(100 + writer);
    const attempts: number[] = [];
    for (let count = 0; count < TRANSACTIONS; count += 1) attempts.push(await writeOnce(team, subjects, random));
    return attempts;
  });
  expect(await compareUntil(team, writing)).toBeGreaterThan(5);
  // A second attempt would mean that there was a deadlock.
  expect(new Set((await writing).flat())).toEqual(new Set([1]));
  const sums = await readAnalytics({ db: app.services.db, clock: app.clock }, { workspaceId: team.id });
  expect(sums).toEqual(await countRows(app.services.db, team.id, app.clock.now()));
  expect(sums.kpis.bookings).toBeGreaterThan(100);
}, 120_000);

test('sums equal counts while rooms, pages and contacts are deleted', async () => {
  const team = await addTeam(app);
  const subjects = await addSubjects(app, team);
  const { db } = app.services;
  const writing = concurrently(WRITERS, async (writer) => {
    const random = createRandom(200 + writer);
    for (let count = 0; count < 30; count += 1) await writeOnce(team, subjects, random);
  });
  const deleting = (async () => {
    const where = { workspaceId: team.id };
    for (const [index, roomId] of subjects.rooms.slice(0, 9).entries()) {
      await transact(db, (tx) => tx.room.deleteMany({ where: { ...where, id: roomId } }));
      await transact(db, (tx) => tx.bookingPage.deleteMany({ where: { ...where, id: subjects.pages[index] ?? 0 } }));
      await transact(db, (tx) => tx.contact.deleteMany({ where: { ...where, email: `person${index}@example.com` } }));
    }
  })();
  expect(await compareUntil(team, Promise.all([writing, deleting]))).toBeGreaterThan(1);
  const sums = await readAnalytics({ db, clock: app.clock }, { workspaceId: team.id });
  expect(sums).toEqual(await countRows(db, team.id, app.clock.now()));
  expect(sums.kpis.rooms).toBe(3);
}, 120_000);

test('40 concurrent calls with one email address, in different cases, create one contact', async () => {
  const team = await addTeam(app);
  const ids = await concurrently(40, (index) =>
    findOrCreateContact(app.services.db.sql, defaultQuotas, {
      workspaceId: team.id,
      name: `Name ${index % 3}`,
      email: index % 2 === 0 ? ' Kim@Example.com' : 'kim@example.COM',
      at: app.clock.now(),
    }),
  );
  expect(new Set(ids).size).toBe(1);
  const contacts = await app.services.db.contact.findMany({ where: { workspaceId: team.id } });
  expect(contacts).toMatchObject([{ id: ids[0], email: 'kim@example.com' }]);
});

test('an existing contact keeps its day and its name, and no contact is created without an address', async () => {
  const team = await addTeam(app);
  const { db } = app.services;
  const add = (name: string, email: string | null, at: string) =>
    findOrCreateContact(db.sql, defaultQuotas, { workspaceId: team.id, name, email, at: new Date(at) });
  const id = await add('Kim', 'kim@example.com', '2026-05-01T00:00:00Z');
  expect(await add('Kim Lee', 'KIM@example.com', '2026-06-01T00:00:00Z')).toBe(id);
  for (const nothing of [null, '', '  ']) expect(await add('Nobody', nothing, '2026-06-01T00:00:00Z')).toBeNull();
  const other = await addTeam(app);
  expect(
    await findOrCreateContact(db.sql, defaultQuotas, {
      workspaceId: other.id,
      name: 'Kim',
      email: 'kim@example.com',
      at: new Date(),
    }),
  ).not.toBe(id);
  const contacts = await db.contact.findMany({ where: { workspaceId: team.id } });
  expect(contacts).toMatchObject([{ id, name: 'Kim', createdAt: new Date('2026-05-01T00:00:00Z') }]);
});

test('events of a workspace that is being deleted are deleted with it, or rejected', async () => {
  const team = await addTeam(app);
  const subjects = await addSubjects(app, team);
  const outcomes = await Promise.all([
    ...Array.from({ length: 6 }, async (_, index) => {
      const random = createRandom(300 + index);
      for (let count = 0; count < 40; count += 1)
        await transact(app.services.db, async (tx) => {
          await upsertAnyContact(tx, team, random, app.clock.now());
          await recordAnyEvent(tx, team, subjects, random, app.clock.now());
        }).catch((error: unknown) => expect(isForeignKeyViolation(error), String(error)).toBe(true));
    }),
    app.http.delete(team.path, team.owner.token).then(({ status }) => status),
  ]);
  expect(outcomes.at(-1)).toBe(200);
  expect(await app.services.db.contactEventDay.count({ where: { workspaceId: team.id } })).toBe(0);
  const recorded = recordContactEvent(app.services.db.sql, {
    workspaceId: team.id,
    type: 'booking',
    contactId: null,
    roomId: null,
    bookingPageId: null,
    at: app.clock.now(),
  });
  expect(await recorded.catch(isForeignKeyViolation)).toBe(true);
});
