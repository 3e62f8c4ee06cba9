/** Computes the analytics of a workspace by counting rows, without the sums. */
import { DAY_MS } from '../../src/core/time.ts';
import type { Tx } from '../../src/db/client.ts';
import type { Analytics } from '../../src/features/analytics/schemas.ts';

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

function countBy<Row, Key>(rows: readonly Row[], keyOf: (row: Row) => Key | null): Map<Key, number> {
  const counts = new Map<Key, number>();
  for (const row of rows) {
    const key = keyOf(row);
    if (key !== null) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function topFive<Thing extends { id: number }>(things: readonly Thing[], counts: ReadonlyMap<number, number>) {
  return things
    .flatMap((thing) => (counts.has(thing.id) ? [{ ...thing, count: counts.get(thing.id) ?? 0 }] : []))
    .sort((a, b) => b.count - a.count || a.id - b.id)
    .slice(0, 5);
}

/** Returns what `readAnalytics` must return at `now`. */
export async function countRows(db: Tx, workspaceId: number, now: Date): Promise<Analytics> {
  const where = { workspaceId };
  const events = await db.contactEvent.findMany({ where });
  const contacts = await db.contact.findMany({ where });
  const recordings = await db.recording.findMany({ where });
  const rooms = await db.room.findMany({ where });
  const pages = await db.bookingPage.findMany({ where, select: { id: true, title: true, slug: true } });
  const bookings = events.filter(({ type }) => type === 'booking');
  const joins = events.filter(({ type }) => type === 'room_join');
  const bookingDays = countBy(bookings, ({ createdAt }) => dayOf(createdAt));
  const joinDays = countBy(joins, ({ createdAt }) => dayOf(createdAt));
  const contactDays = countBy(contacts, ({ createdAt }) => dayOf(createdAt));
  const days = Array.from({ length: 30 }, (_, index) => dayOf(new Date(now.getTime() - (29 - index) * DAY_MS)));
  return {
    kpis: {
      rooms: rooms.length,
      recordings: recordings.length,
      recordingDuration: recordings.reduce((sum, { duration }) => sum + Number(duration), 0),
      contacts: contacts.length,
      bookings: bookings.length,
    },
    activityTimeline: days
      .map((date) => ({ date, bookings: bookingDays.get(date) ?? 0, room_joins: joinDays.get(date) ?? 0 }))
      .filter((day) => day.bookings + day.room_joins > 0),
    eventTypeBreakdown: [...countBy(events, ({ type }) => type)]
      .map(([type, count]) => ({ type, count }))
      .sort((a, b) => b.count - a.count || (a.type < b.type ? -1 : 1)),
    topBookingPages: topFive(
      pages,
      countBy(bookings, ({ bookingPageId }) => bookingPageId),
    ),
    newContactsTimeline: days.flatMap((date) =>
      contactDays.has(date) ? [{ date, count: contactDays.get(date) ?? 0 }] : [],
    ),
    topRooms: topFive(
      rooms.map(({ id, name, displayName }) => ({ id, name, display_name: displayName })),
      countBy(joins, ({ roomId }) => roomId),
    ),
  };
}
