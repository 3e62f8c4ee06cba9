/** How values are shown. Times are in the zone and language of the viewer's browser. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const RELATIVE_DAYS = 7;

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const dateOnly = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const timeOnly = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const numbers = new Intl.NumberFormat();

export const viewerZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** All time zones, as the options of a combobox. */
export const timeZones = [...new Set([viewerZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])]
  .sort()
  .map((name) => ({ value: name, label: name.replaceAll('_', ' ') }));

/** `1.5 MB`, in powers of 1,000. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${numbers.format(unit === 0 || value >= 100 ? Math.round(value) : Math.round(value * 10) / 10)} ${units[unit]}`;
}

export function formatNumber(value: number): string {
  return numbers.format(value);
}

/** `4:05` or `1:02:09`, from seconds. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts = [Math.floor(whole / HOUR), Math.floor((whole % HOUR) / MINUTE), whole % MINUTE];
  const [hours = 0, minutes = 0, rest = 0] = parts;
  const padded = (value: number) => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${padded(minutes)}:${padded(rest)}` : `${minutes}:${padded(rest)}`;
}

/** The full date and time with the zone, from Unix seconds. */
export function formatExactly(at: number): string {
  return `${exact.format(at * 1000)} (${viewerZone})`;
}

export function formatDateTime(at: number): string {
  return dateTime.format(at * 1000);
}

export function formatDate(at: number): string {
  return dateOnly.format(at * 1000);
}

export function formatTime(at: number): string {
  return timeOnly.format(at * 1000);
}

/** `in 5 minutes`, `yesterday`, and the date for times that are more than a week away. */
export function formatRelatively(at: number, now = Date.now() / 1000): string {
  const seconds = at - now;
  const distance = Math.abs(seconds);
  if (distance < 45) return relative.format(0, 'second');
  if (distance < HOUR) return relative.format(Math.round(seconds / MINUTE), 'minute');
  if (distance < DAY) return relative.format(Math.round(seconds / HOUR), 'hour');
  if (distance < RELATIVE_DAYS * DAY) return relative.format(Math.round(seconds / DAY), 'day');
  return formatDate(at);
}

/** The value of a `datetime-local` input, in the viewer's zone. */
export function toLocalInput(at: number): string {
  const date = new Date(at * 1000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
