/**
 * Returns the start of the day that is `daysLater` days after `day`, in the viewer's zone, as Unix seconds. `day` is
 * what a field of type `date` has, such as `2026-11-24`. Undefined if it is not a day, or before 1970: while somebody
 * types a year, it is an early one such as 0002.
 */
export function toStartOfDay(day: string, daysLater: number): number | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day)?.map(Number) ?? [];
  if (year === undefined || month === undefined || date === undefined) return undefined;
  const seconds = Math.floor(new Date(year, month - 1, date + daysLater).getTime() / 1000);
  return seconds < 0 ? undefined : seconds;
}
