/** The times of a meeting, as text in the time zone of the reader. */
import type { MailedBooking } from '../kinds.ts';

type Times = Pick<MailedBooking, 'startsAt' | 'endsAt' | 'timeZone'>;

const day = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const;
const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;

/** The date, the time and the zone, for the facts of a message. */
export function describeTimes({ startsAt, endsAt, timeZone }: Times): [label: string, value: string][] {
  const [startDay, endDay] = [format(startsAt, timeZone, day), format(endsAt, timeZone, day)];
  const end = `${endDay === startDay ? '' : `${endDay}, `}${formatTimeOfDay(endsAt, timeZone)}`;
  return [
    ['When', `${startDay}, ${formatTimeOfDay(startsAt, timeZone)} to ${end}`],
    ['Time zone', `${timeZone} (${offsetAt(startsAt, timeZone)})`],
  ];
}

/** Such as "16 Jun 2026, 11:00", for a subject. */
export function formatStart({ startsAt, timeZone }: Times): string {
  const date = format(startsAt, timeZone, { day: 'numeric', month: 'short', year: 'numeric' });
  return `${date}, ${formatTimeOfDay(startsAt, timeZone)}`;
}

/** Such as "11:00". */
export function formatTimeOfDay(unixSeconds: number, timeZone: string): string {
  return format(unixSeconds, timeZone, time);
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

function format(unixSeconds: number, timeZone: string, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en-GB', { ...options, timeZone }).format(unixSeconds * 1000);
}
