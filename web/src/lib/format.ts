/** How values are shown. Times are in the viewer's zone, and in the language of the page: `lib/display.ts`. */
import { nowSeconds } from './clock.ts';
import { readDisplay } from './display.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const RELATIVE_DAYS = 7;

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** The time zone of the viewer. Every browser can show times in it. */
export const viewerZone = findViewerZone();

const inZone = { timeZone: viewerZone } as const;
const formatsOfLocales = new Map<string | undefined, ReturnType<typeof createFormats>>();

function createFormats(locale: string | undefined) {
  return {
    exact: new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long', ...inZone }),
    dateTime: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', ...inZone }),
    dateOnly: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', ...inZone }),
    timeOnly: new Intl.DateTimeFormat(locale, { timeStyle: 'short', ...inZone }),
    relative: new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }),
    numbers: new Intl.NumberFormat(locale),
  };
}

function formats(): ReturnType<typeof createFormats> {
  const { locale } = readDisplay();
  const known = formatsOfLocales.get(locale) ?? createFormats(locale);
  formatsOfLocales.set(locale, known);
  return known;
}

/** All time zones, as the options of a combobox. */
export const timeZones = [...new Set([viewerZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])]
  .sort()
  .map((name) => ({ value: name, label: name.replaceAll('_', ' ') }));

/**
 * A browser that does not know the zone of its system says `Etc/Unknown`, or nothing, and shows times in it only if it
 * is not named. Then its distance from UTC stands for the zone.
 */
function findViewerZone(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return [timeZone, toOffsetZone(-new Date().getTimezoneOffset())].find(isTimeZone) ?? 'UTC';
}

/** `+05:30`, from minutes. */
function toOffsetZone(minutes: number): string {
  if (minutes === 0) return 'UTC';
  const padded = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${padded(Math.abs(minutes) / 60)}:${padded(Math.abs(minutes) % 60)}`;
}

/** Undefined is no zone: `Intl` would take it for the zone of the system. */
function isTimeZone(name: string | undefined): boolean {
  try {
    return new Intl.DateTimeFormat(undefined, { timeZone: name ?? '' }) !== null;
  } catch {
    return false;
  }
}

/** `1.5 MB`, in powers of 1,024 as in the messages of the service: 104,857,600 is "100 MB". */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1023.5 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${formats().numbers.format(unit === 0 || value >= 100 ? Math.round(value) : Math.round(value * 10) / 10)} ${units[unit]}`;
}

export function formatNumber(value: number): string {
  return formats().numbers.format(value);
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
  return `${formats().exact.format(at * 1000)} (${viewerZone})`;
}

export function formatDateTime(at: number): string {
  return formats().dateTime.format(at * 1000);
}

export function formatDate(at: number): string {
  return formats().dateOnly.format(at * 1000);
}

export function formatTime(at: number): string {
  return formats().timeOnly.format(at * 1000);
}

/** `in 5 minutes`, `yesterday`, and the date for times that are more than a week away. */
export function formatRelatively(at: number, now = nowSeconds()): string {
  const seconds = at - now;
  const distance = Math.abs(seconds);
  if (distance < 45) return formats().relative.format(0, 'second');
  if (distance < HOUR) return formats().relative.format(Math.round(seconds / MINUTE), 'minute');
  if (distance < DAY) return formats().relative.format(Math.round(seconds / HOUR), 'hour');
  if (distance < RELATIVE_DAYS * DAY) return formats().relative.format(Math.round(seconds / DAY), 'day');
  return formatDate(at);
}

/** The value of a `datetime-local` input, in the viewer's zone. */
export function toLocalInput(at: number): string {
  const date = new Date(at * 1000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
