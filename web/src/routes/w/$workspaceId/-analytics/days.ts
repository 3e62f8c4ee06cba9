import { nowSeconds } from '../../../../lib/clock.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;

/**
 * The last 30 UTC days, oldest first: those of `rows`, and `zero` for the days that the service leaves out because
 * nothing has happened. The clock of the browser may be slow, so the last row is never left out.
 */
export function lastDays<Row extends { date: string }>(
  rows: readonly Row[],
  zero: Omit<Row, 'date'>,
  now = nowSeconds() * 1000,
): (Omit<Row, 'date'> & { date: string })[] {
  const byDate = new Map(rows.map((row) => [row.date, row]));
  const last = Math.max(now, Date.parse(rows.at(-1)?.date ?? '') || 0);
  return Array.from({ length: DAYS }, (_, index) => {
    const date = new Date(last - (DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);
    return byDate.get(date) ?? { ...zero, date };
  });
}
