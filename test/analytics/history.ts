/** Random rooms, pages, contacts and events of a workspace, from a seed. */

import { DAY_MS } from '../../src/core/time.ts';
import { type Tx, transact } from '../../src/db/client.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { recordContactEvent } from '../../src/features/contacts/record-contact-event.ts';
import { defaultQuotas } from '../../src/quotas/quotas.ts';
import { bookingPageData } from '../support/booking-page.ts';
import { findOrCreateContact, findOrCreateContacts } from '../support/contacts.ts';
import type { TestApp } from '../support/test-app.ts';
import type { Team } from '../support/world.ts';

export type Random = { below(limit: number): number; of<Thing>(things: readonly Thing[]): Thing };

/** Park and Miller's minimal standard generator, which gives the same numbers everywhere. */
export function createRandom(seed: number): Random {
  let state = seed;
  const below = (limit: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
  return {
    below,
    of(things) {
      const thing = things[below(things.length)];
      if (thing === undefined) throw new Error('Nothing to choose from');
      return thing;
    },
  };
}

let names = 0;
function newName(): string {
  names += 1;
  return `thing-${names}`;
}

export async function addRoom(app: TestApp, team: Team, displayName: string | null = null): Promise<number> {
  const now = app.clock.now();
  const { id } = await app.services.db.room.create({
    data: {
      workspaceId: team.id,
      name: newName(),
      userId: team.owner.id,
      displayName,
      accentColor: '#6366f1',
      createdAt: now,
      lastUsedAt: now,
    },
  });
  return id;
}

export async function addRecording(app: TestApp, team: Team, roomId: number, duration: number): Promise<number> {
  const now = app.clock.now();
  const { id } = await app.services.db.recording.create({
    data: {
      workspaceId: team.id,
      roomId,
      archiveId: newName(),
      status: 'uploaded',
      duration: BigInt(duration),
      createdAt: now,
      updatedAt: now,
    },
  });
  return id;
}

export async function addPage(app: TestApp, team: Team, title = 'Call'): Promise<number> {
  const { id } = await app.services.db.bookingPage.create({
    data: bookingPageData({
      workspaceId: team.id,
      userId: team.owner.id,
      title,
      slug: newName(),
      createdAt: app.clock.now(),
    }),
  });
  return id;
}

export type Subjects = { rooms: readonly number[]; pages: readonly number[] };

/** Adds twelve rooms and nine pages, more than a top list contains. */
export async function addSubjects(app: TestApp, team: Team): Promise<Subjects> {
  const rooms: number[] = [];
  const pages: number[] = [];
  for (let index = 0; index < 12; index += 1)
    rooms.push(await addRoom(app, team, index % 2 === 0 ? null : `R${index}`));
  for (let index = 0; index < 9; index += 1) pages.push(await addPage(app, team, `Page ${index}`));
  return { rooms, pages };
}

/** Records an event of a random type, sometimes without a contact, a room or a page. */
export async function recordAnyEvent(tx: Tx, team: Team, { rooms, pages }: Subjects, random: Random, at: Date) {
  const type = random.of(['room_join', 'room_join', 'booking', 'room_leave', 'page_view']);
  await recordContactEvent(sqlIn(tx), {
    workspaceId: team.id,
    type,
    contactId: random.below(2) === 0 ? null : 1 + random.below(50),
    // Also for types that do not count for rooms.
    roomId: random.below(5) === 0 ? null : random.of(rooms),
    bookingPageId: random.below(5) === 0 ? null : random.of(pages),
    at,
  });
}

export function upsertAnyContact(tx: Tx, team: Team, random: Random, at: Date, people = 60): Promise<number | null> {
  return findOrCreateContact(sqlIn(tx), defaultQuotas, { workspaceId: team.id, ...anyPerson(random, people), at });
}

function anyPerson(random: Random, people: number) {
  return {
    name: random.of(['Kim', 'Alex', 'Sam']),
    email: random.below(8) === 0 ? null : `${random.of(['P', 'p'])}erson${random.below(people)}@Example.com`,
  };
}

/** Finds or creates the contacts of one to four people. */
export function upsertAnyContacts(tx: Tx, team: Team, random: Random, at: Date, people = 60) {
  const some = Array.from({ length: 1 + random.below(4) }, () => anyPerson(random, people));
  return findOrCreateContacts(sqlIn(tx), defaultQuotas, { workspaceId: team.id, at }, some);
}

/** A random time at most 30 days from `now`. Half of these times are within a millisecond of midnight UTC. */
export function anyTimeAround(now: Date, random: Random): Date {
  const midnight = Math.floor(now.getTime() / DAY_MS) * DAY_MS + (random.below(61) - 30) * DAY_MS;
  return new Date(midnight + (random.below(2) === 0 ? random.below(3) - 1 : random.below(DAY_MS)));
}

/** Runs transactions that each write one to three events and a contact. */
export async function makeHistory(
  app: TestApp,
  team: Team,
  subjects: Subjects,
  { seed, transactions, now }: { seed: number; transactions: number; now: Date },
): Promise<void> {
  const random = createRandom(seed);
  for (let index = 0; index < transactions; index += 1)
    await transact(app.services.db, async (tx) => {
      await upsertAnyContact(tx, team, random, anyTimeAround(now, random));
      for (let more = random.below(3); more >= 0; more -= 1)
        await recordAnyEvent(tx, team, subjects, random, anyTimeAround(now, random));
    });
}
