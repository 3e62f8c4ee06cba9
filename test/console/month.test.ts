/** The weeks that the calendar of a booking page shows. */
import { expect, test } from 'vitest';
import { addMonths, daysOfCalendar, toDay, toRange } from '../../web/src/routes/-public/month.ts';

test.each([
  // November 2026 begins on a Sunday.
  ['2026-11', 1, '2026-10-26', '2026-12-06'],
  ['2026-11', 7, '2026-11-01', '2026-12-12'],
  ['2026-11', 6, '2026-10-31', '2026-12-11'],
  ['2027-02', 1, '2027-02-01', '2027-03-14'],
  ['2028-02', 7, '2028-01-30', '2028-03-11'],
])('%s has six weeks that begin on weekday %i', (month, firstWeekday, first, last) => {
  const days = daysOfCalendar(month, firstWeekday);
  expect([days.length, days[0], days.at(-1)]).toEqual([42, first, last]);
});

test('the last day of every month has the first days of the next beside it', () => {
  for (let month = '2026-01'; month < '2030-01'; month = addMonths(month, 1))
    for (const firstWeekday of [1, 6, 7])
      expect(daysOfCalendar(month, firstWeekday)).toContain(`${addMonths(month, 1)}-05`);
});

test('the range of a calendar has its days in every zone, and is as long as the service answers', () => {
  const days = daysOfCalendar('2026-11', 1);
  const { from, to } = toRange(days);
  for (const zone of ['Pacific/Kiritimati', 'Etc/GMT+12']) {
    expect(toDay(from, zone) <= '2026-10-26').toBe(true);
    expect(toDay(to, zone) > '2026-12-06').toBe(true);
  }
  expect(to - from).toBeLessThan(62 * 86_400);
});

test('months go on from one year to another', () => {
  expect([addMonths('2026-12', 1), addMonths('2027-01', -1)]).toEqual(['2027-01', '2026-12']);
});
