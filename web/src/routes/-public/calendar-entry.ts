/** The ways to put a meeting into the calendar of its guest. */
import { nowSeconds } from '../../lib/clock.ts';
import { toRoomUrl } from '../../lib/room-url.ts';

export type Meeting = {
  uid: string;
  sequence: number;
  title: string;
  host_name: string;
  starts_at: number;
  ends_at: number;
  room_name: string | null;
};

/**
 * The calendar file of a meeting (iCalendar, RFC 5545). It has the UID and the SEQUENCE of the invitation by mail, so
 * that a program that has both shows one entry.
 */
export function toCalendarFile(meeting: Meeting, now = nowSeconds()): string {
  const { uid, sequence, starts_at, ends_at, room_name } = meeting;
  const url = room_name === null ? null : toRoomUrl(room_name);
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Lynxroom//Bookings//EN',
    'METHOD:PUBLISH',
    'BEGIN:VEVENT',
    `UID:${uid}`,
    `SEQUENCE:${sequence}`,
    `DTSTAMP:${toUtc(now)}`,
    `DTSTART:${toUtc(starts_at)}`,
    `DTEND:${toUtc(ends_at)}`,
    `SUMMARY:${escapeText(toSummary(meeting))}`,
    ...(url === null ? [] : [`LOCATION:${escapeText(url)}`, `URL:${url}`]),
    'STATUS:CONFIRMED',
    'END:VEVENT',
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join('');
}

/** Links to web calendars. Each opens a prefilled form for a new event. */
export function toCalendarLinks(meeting: Meeting): readonly { label: string; href: string }[] {
  const summary = toSummary(meeting);
  const { starts_at, ends_at, room_name } = meeting;
  const location = room_name === null ? '' : toRoomUrl(room_name);
  const google = { action: 'TEMPLATE', text: summary, dates: `${toUtc(starts_at)}/${toUtc(ends_at)}`, location };
  const outlook = {
    path: '/calendar/action/compose',
    rru: 'addevent',
    subject: summary,
    location,
    startdt: toIso(starts_at),
    enddt: toIso(ends_at),
  };
  const query = (fields: Record<string, string>): string => new URLSearchParams(fields).toString();
  return [
    { label: 'Google', href: `https://calendar.google.com/calendar/render?${query(google)}` },
    { label: 'Outlook', href: `https://outlook.live.com/calendar/0/deeplink/compose?${query(outlook)}` },
    { label: 'Office 365', href: `https://outlook.office.com/calendar/0/deeplink/compose?${query(outlook)}` },
  ];
}

function toSummary({ title, host_name }: Meeting): string {
  return `${title}: ${host_name}`;
}

function toIso(at: number): string {
  return new Date(at * 1000).toISOString().replace('.000Z', 'Z');
}

/** `20261124T090000Z` */
function toUtc(at: number): string {
  return toIso(Math.floor(at)).replaceAll(/[-:]/g, '');
}

function escapeText(text: string): string {
  return text.replaceAll(/[\\;,]/g, '\\$&').replaceAll(/\r?\n/g, '\\n');
}

/** Lines have at most 75 bytes; the rest follows after a space. A character is not cut. */
function fold(line: string): string {
  const encoder = new TextEncoder();
  let folded = '';
  let length = 0;
  for (const character of line) {
    const size = encoder.encode(character).length;
    if (length + size > 75) {
      folded += '\r\n ';
      length = 1;
    }
    folded += character;
    length += size;
  }
  return folded;
}
