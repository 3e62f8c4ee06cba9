/** Five simulated weeks of a workspace: its analytics equal what its activity says. */
import { expect, test } from 'vitest';
import { type Activity, simulateMonth } from '../../scripts/demo/simulate-month.ts';
import { DAY_MS } from '../../src/core/time.ts';
import { startTestApp } from '../support/test-app.ts';
import { addPerson } from '../support/world.ts';
import { countRows } from './count-rows.ts';

const FROM = new Date('2026-03-02T00:00:00Z');
const DAYS = 35;

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

function countOf<Key>(keys: readonly Key[]): Map<Key, number> {
  const counts = new Map<Key, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/** Computes the analytics from the activity alone, without the database. */
function countActivity({ rooms, pages, joins, bookings, recordings }: Activity, last: Date) {
  const window = Array.from({ length: 30 }, (_, index) => dayOf(new Date(last.getTime() - (29 - index) * DAY_MS)));
  const joinDays = countOf(joins.map(({ at }) => dayOf(at)));
  const bookingDays = countOf(bookings.map(({ at }) => dayOf(at)));
  const firstSeen = new Map<string, Date>();
  for (const { at, email } of [...joins, ...bookings]) {
    const known = email === null ? at : firstSeen.get(email);
    if (email !== null && (known === undefined || at < known)) firstSeen.set(email, at);
  }
  const contactDays = countOf([...firstSeen.values()].map(dayOf));
  const cancelled = bookings.filter(({ isCancelled }) => isCancelled).length;
  const joinsOf = countOf(joins.map(({ roomId }) => roomId));
  const bookingsOf = countOf(bookings.map(({ pageId }) => pageId));
  const byCount = (a: { id: number; count: number }, b: { id: number; count: number }) =>
    b.count - a.count || a.id - b.id;
  return {
    kpis: {
      rooms: rooms.length + bookings.length - cancelled,
      recordings: recordings.length,
      recordingDuration: recordings.reduce((sum, { duration }) => sum + duration, 0),
      contacts: firstSeen.size,
      bookings: bookings.length,
    },
    activityTimeline: window.flatMap((date) => {
      const day = { date, bookings: bookingDays.get(date) ?? 0, room_joins: joinDays.get(date) ?? 0 };
      return day.bookings + day.room_joins > 0 ? [day] : [];
    }),
    eventTypeBreakdown: [
      { type: 'room_join', count: joins.length },
      { type: 'booking', count: bookings.length },
      { type: 'booking_cancelled', count: cancelled },
    ].filter(({ count }) => count > 0),
    topBookingPages: pages
      .map((page) => ({ ...page, count: bookingsOf.get(page.id) ?? 0 }))
      .filter(({ count }) => count > 0)
      .sort(byCount),
    newContactsTimeline: window.flatMap((date) => {
      const count = contactDays.get(date) ?? 0;
      return count > 0 ? [{ date, count }] : [];
    }),
    topRooms: rooms
      .map(({ id, name, displayName }) => ({ id, name, display_name: displayName, count: joinsOf.get(id) ?? 0 }))
      .filter(({ count }) => count > 0)
      .sort(byCount),
  };
}

test('the analytics of five simulated weeks equal the simulated activity', { timeout: 120_000 }, async () => {
  const app = await startTestApp({ frozenAt: FROM, settings: { sessionDays: 60 } });
  try {
    const { client, token } = await addPerson(app, 'Olive');
    const { workspace } = await client.workspaces.create.mutate({ name: 'Studio' });
    const setTime = (at: Date): void => app.clock.advance(at.getTime() - app.clock.now().getTime());
    const period = { from: FROM, days: DAYS, setTime };
    const activity = await simulateMonth({ url: app.url, token, workspaceId: workspace.id, ...period });
    const last = new Date(FROM.getTime() + (DAYS - 1) * DAY_MS);
    setTime(new Date(last.getTime() + DAY_MS - 1));
    const analytics = await client.analytics.read.query({ workspaceId: workspace.id });
    expect(analytics).toEqual(countActivity(activity, last));
    expect(analytics).toEqual(await countRows(app.services.db, workspace.id, app.clock.now()));
    // The comparison is only worth something if a lot has happened.
    expect(activity.joins.length).toBeGreaterThan(100);
    expect(activity.recordings.length).toBeGreaterThan(10);
    expect(activity.bookings.some(({ isCancelled }) => isCancelled)).toBe(true);
    expect(activity.joins.some(({ email }) => email === null)).toBe(true);
    // Some joins are older than the timeline.
    const sum = analytics.activityTimeline.reduce((total, day) => total + day.room_joins, 0);
    expect(sum).toBeLessThan(activity.joins.length);
  } finally {
    await app.close();
  }
});
