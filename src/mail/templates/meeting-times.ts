/** The times of a meeting, as text in the language and the time zone of the reader. */
import type { Language } from '../../languages/languages.ts';
import type { MailedBooking } from '../kinds.ts';
import { createMailWriter, toLocale } from '../texts.ts';

type Times = Pick<MailedBooking, 'startsAt' | 'endsAt' | 'timeZone'>;

const day = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const;
const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;

/** The date, the time and the zone, for the facts of a message. */
export function describeTimes(
  { startsAt, endsAt, timeZone }: Times,
  language: Language = 'en',
): [label: string, value: string][] {
  const write = createMailWriter(language);
  const [startDay, endDay] = [format(startsAt, timeZone, day, language), format(endsAt, timeZone, day, language)];
  const start = `${startDay}${write('mail.comma')}${formatTimeOfDay(startsAt, timeZone, language)}`;
  const endTime = formatTimeOfDay(endsAt, timeZone, language);
  const end = endDay === startDay ? endTime : `${endDay}${write('mail.comma')}${endTime}`;
  return [
    [write('mail.when'), write('mail.fromTo', { start, end })],
    [write('mail.timeZone'), `${timeZone} (${offsetAt(startsAt, timeZone)})`],
  ];
}

/** Such as "16 Jun 2026, 11:00", for a subject. */
export function formatStart({ startsAt, timeZone }: Times, language: Language = 'en'): string {
  const date = format(startsAt, timeZone, { day: 'numeric', month: 'short', year: 'numeric' }, language);
  const comma = createMailWriter(language)('mail.comma');
  return `${date}${comma}${formatTimeOfDay(startsAt, timeZone, language)}`;
}

/** Such as "11:00". */
export function formatTimeOfDay(unixSeconds: number, timeZone: string, language: Language = 'en'): string {
  return format(unixSeconds, timeZone, time, language);
}

/**
 * Such as "GMT+02:00". The offset changes with daylight saving time, so it distinguishes the two occurrences of the
 * hour that is repeated when the clocks go back.
 */
function offsetAt(unixSeconds: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'longOffset' }).formatToParts(
    unixSeconds * 1000,
  );
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

function format(
  unixSeconds: number,
  timeZone: string,
  options: Intl.DateTimeFormatOptions,
  language: Language,
): string {
  return new Intl.DateTimeFormat(toLocale(language), { ...options, timeZone }).format(unixSeconds * 1000);
}
