/** The weeks of a calendar. Days are text such as `2026-11-30`, and months such as `2026-11`, in no time zone. */

const DAY_MS = 86_400_000;
const WEEK = 7;

/** Every month is shown with as many weeks, so that the calendar keeps its height. */
const WEEKS = 6;

/** No time zone is further from UTC. */
const MAX_OFFSET_SECONDS = 14 * 3_600;

/** Dates are Gregorian in every language, because the weeks of the calendar are. */
const utc = { timeZone: 'UTC', calendar: 'gregory' } as const;

/** The day of a time in a zone. */
export function toDay(at: number, zone: string): string {
  return new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone: zone }).format(at * 1000);
}

export function toMonth(day: string): string {
  return day.slice(0, 7);
}

/** Returns the month that is `count` months after `month`. */
export function addMonths(month: string, count: number): string {
  const date = new Date(`${month}-01T00:00:00Z`);
  date.setUTCMonth(date.getUTCMonth() + count);
  return toMonth(date.toISOString());
}

export function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10);
}

/** The 42 days that a calendar shows for a month. They begin in the week of its first day, and end in the next month. */
export function daysOfCalendar(month: string, firstWeekday: number): string[] {
  const first = `${month}-01`;
  const skipped = (new Date(first).getUTCDay() - (firstWeekday % WEEK) + WEEK) % WEEK;
  return Array.from({ length: WEEKS * WEEK }, (_, index) => addDays(first, index - skipped));
}

/** Returns a range of times that contains these days in every time zone, as Unix seconds. `to` is exclusive. */
export function toRange(days: readonly string[]): { from: number; to: number } {
  const [first = '', last = ''] = [days[0], days.at(-1)];
  const from = Date.parse(first) / 1000 - MAX_OFFSET_SECONDS;
  return { from: Math.max(0, from), to: (Date.parse(last) + DAY_MS) / 1000 + MAX_OFFSET_SECONDS };
}

/** 1 is Monday, and 7 is Sunday. Monday where the browser does not know how weeks are in a language. */
export function findFirstWeekday(language: string): number {
  // `as`: the types of TypeScript do not have it yet, and Firefox does not either.
  const locale = new Intl.Locale(language) as Intl.Locale & { getWeekInfo?: () => { firstDay: number } };
  return locale.getWeekInfo?.().firstDay ?? 1;
}

/** `Monday 23 November 2026 at 10:00` */
export function formatMeeting(at: number, zone: string, locale: string): string {
  const parts = { dateStyle: 'full', timeStyle: 'short', ...utc, timeZone: zone } as const;
  return new Intl.DateTimeFormat(locale, parts).format(at * 1000);
}

/** `10:00` */
export function formatClock(at: number, zone: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone: zone }).format(at * 1000);
}

/** `November 2026` */
export function formatMonth(month: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', ...utc }).format(Date.parse(month));
}

/** `Monday, 30 November 2026` */
export function formatDay(day: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'full', ...utc }).format(Date.parse(day));
}

/** `30` */
export function formatDate(day: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { day: 'numeric', ...utc }).format(Date.parse(day));
}

/** `Mon` */
export function formatWeekday(day: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { weekday: 'short', ...utc }).format(Date.parse(day));
}
