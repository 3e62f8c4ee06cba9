/** The header Retry-After (RFC 9110, section 10.2.3). */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)';

/** The three forms of HTTP-date (RFC 9110, section 5.6.7). Whether the weekday matches the date is not checked. */
const HTTP_DATES: readonly RegExp[] = [
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\\d{2}) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\\d{2})-${MONTH}-(?<shortYear>\\d{2}) ${TIME} GMT$`),
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/**
 * Returns the number of seconds after `now` that a Retry-After header asks the sender to wait: a whole number, 0 for a
 * time in the past, or null if the header is absent or invalid (negative or fractional, for example). If there are
 * several headers, the longest time is used.
 */
export function parseRetryAfter(value: string | readonly string[] | undefined, now: Date): number | null {
  if (value === undefined) return null;
  const seconds = [value].flat().flatMap((one) => parseOne(one, now) ?? []);
  return seconds.length === 0 ? null : Math.max(...seconds);
}

function parseOne(value: string, now: Date): number | null {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  const time = parseHttpDate(text, now);
  return time === null ? null : Math.max(0, Math.ceil((time - now.getTime()) / 1000));
}

function parseHttpDate(text: string, now: Date): number | null {
  const parts = HTTP_DATES.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (!parts) return null;
  const { day, month = '', hour, minute, second } = parts;
  const year =
    parts.shortYear === undefined ? Number(parts.year) : toFullYear(Number(parts.shortYear), now.getUTCFullYear());
  const date = new Date(0);
  // Not Date.UTC, which reads the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, MONTHS.indexOf(month), Number(day));
  if (date.getUTCDate() !== Number(day)) return null;
  return date.setUTCHours(Number(hour), Number(minute), Number(second));
}

/** Returns the latest year that ends in these two digits and is at most 50 years ahead. */
function toFullYear(shortYear: number, thisYear: number): number {
  const latest = thisYear + 50;
  return latest - ((latest - shortYear) % 100);
}
