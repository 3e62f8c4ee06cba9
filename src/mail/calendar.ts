/**
 * Calendar files (iCalendar, RFC 5545, and iTIP, RFC 5546). All times are in UTC, so that no time zone needs to be
 * defined. Calendar programs show them in the time zone of their user.
 */
import ical, {
  ICalAttendeeRole,
  ICalAttendeeStatus,
  type ICalCalendar,
  ICalCalendarMethod,
  type ICalEventData,
  ICalEventStatus,
} from 'ical-generator';
import { fromUnixSeconds } from '../core/time.ts';
import type { MailedBooking, MailSource } from './kinds.ts';
import { toLine } from './lines.ts';
import type { CalendarEntry } from './templates/content.ts';

const PRODUCT = { company: 'Lynxroom', product: 'Bookings', language: 'EN' };

/**
 * The file that adds a meeting to the calendars of its guest and host, changes it there, or removes it. The organizer
 * is the sender's address, because programs reject an invitation from any other address. `link` becomes the
 * description.
 */
export function toInvitation({ method, booking, link }: CalendarEntry, { baseUrl, address }: MailSource): string {
  const calendar = ical({ prodId: PRODUCT, method: ICalCalendarMethod[method] });
  addEvent(calendar, booking, baseUrl, {
    organizer: { name: toLine(booking.host.name), email: address },
    status: method === 'CANCEL' ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
    ...(link && { description: `${link.label}:\n${baseUrl}${link.link}` }),
    attendees: [booking.guest, booking.host].map(({ name, email }) => ({
      name: toLine(name),
      email,
      role: ICalAttendeeRole.REQ,
      status: ICalAttendeeStatus.ACCEPTED,
      rsvp: true,
    })),
  });
  return calendar.toString();
}

/** The file of a calendar feed. It has no attendees, so that no program sends mail to them. */
export function toFeed(name: string, bookings: readonly MailedBooking[], baseUrl: string): string {
  const calendar = ical({ prodId: PRODUCT, name });
  for (const booking of bookings) {
    const description = `Guest: ${toLine(booking.guest.name)}, ${booking.guest.email}`;
    addEvent(calendar, booking, baseUrl, { status: ICalEventStatus.CONFIRMED, description });
  }
  return calendar.toString();
}

function addEvent(
  calendar: ICalCalendar,
  { uid, sequence, changedAt, title, startsAt, endsAt, host, guest, room }: MailedBooking,
  baseUrl: string,
  rest: Partial<ICalEventData>,
): void {
  const url = room === null ? null : baseUrl + room;
  calendar.createEvent({
    id: uid,
    sequence,
    stamp: fromUnixSeconds(changedAt),
    start: fromUnixSeconds(startsAt),
    end: fromUnixSeconds(endsAt),
    summary: `${toLine(title)}: ${toLine(guest.name)} and ${toLine(host.name)}`,
    ...(url !== null && { location: url, url }),
    ...rest,
  });
}
