/** Reads messages as a mail server received them: their parts (MIME), and the calendar files among these. */
import ICAL from 'ical.js';
import type { ReceivedMail } from './mail-server.ts';

export type MailPart = { type: string; headers: string; text: string };

/** What a calendar program reads from a file with one event. */
export type ReadInvitation = {
  method: string;
  uid: string;
  sequence: number;
  status: string;
  summary: string;
  location: string | null;
  /** Contains the link of the person who received the entry. */
  description: string | null;
  /** In Unix seconds. */
  startsAt: number;
  endsAt: number;
  organizer: { name: string; address: string };
  attendees: { name: string; address: string; rsvp: string }[];
};

/** The parts without parts of their own, decoded. */
export function partsOf({ raw }: Pick<ReceivedMail, 'raw'>): MailPart[] {
  const [head = '', ...rest] = raw.split('\r\n\r\n');
  const headers = head.replace(/\r\n[ \t]+/g, ' ');
  const body = rest.join('\r\n\r\n');
  const type = headerOf(headers, 'Content-Type') ?? 'text/plain';
  const boundary = /^multipart\/.*boundary="?([^";]+)/.exec(type)?.[1];
  if (boundary === undefined) return [{ type, headers, text: decode(body, headers) }];
  const parts = `\r\n${body}`.split(`\r\n--${boundary}`).slice(1, -1);
  return parts.flatMap((part) => partsOf({ raw: part.replace(/^\r\n/, '') }));
}

export function headerOf(headers: string, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)$`, 'im').exec(headers)?.[1]?.trim();
}

/** The subject, and the text for programs that show no HTML. */
export function textOf(mail: Pick<ReceivedMail, 'raw'>): string {
  const [head = ''] = mail.raw.split('\r\n\r\n');
  const text = partsOf(mail).find(({ type }) => type.startsWith('text/plain'))?.text ?? '';
  return `${headerOf(head.replace(/\r\n[ \t]+/g, ' '), 'Subject')}\n\n${text.replaceAll('\r\n', '\n')}`;
}

/** The address to which a program sends an answer; undefined if it is that of the sender. */
export function replyToOf({ raw }: Pick<ReceivedMail, 'raw'>): string | undefined {
  const [head = ''] = raw.split('\r\n\r\n');
  return headerOf(head.replace(/\r\n[ \t]+/g, ' '), 'Reply-To');
}

/** What a reader sees of text in which invisible characters keep mail programs from making links. */
export function withoutJoiners(text: string): string {
  return text.replaceAll('\u2060', '');
}

/** The calendar file of a message; null if it has none. Throws if its two copies differ. */
export function calendarOf(mail: Pick<ReceivedMail, 'raw'>): string | null {
  const [inline, attached, ...others] = partsOf(mail).filter(({ type }) =>
    /^(?:text\/calendar|application\/ics)/.test(type),
  );
  if (inline === undefined) return null;
  if (attached?.text !== inline.text || others.length > 0) throw new Error('The calendar files of a message differ');
  const [, method] = /method=(\w+)/.exec(inline.type) ?? [];
  if (!inline.text.includes(`\r\nMETHOD:${method}\r\n`)) throw new Error('The methods of a message differ');
  return inline.text;
}

/** The calendar file of a message, read by a calendar library. Throws if it has none. */
export function invitationOf(mail: Pick<ReceivedMail, 'raw'>): ReadInvitation {
  const file = calendarOf(mail);
  if (file === null) throw new Error('The message has no calendar file');
  const calendar = ICAL.Component.fromString(file);
  const [event, ...others] = calendar.getAllSubcomponents('vevent');
  if (event === undefined || others.length > 0) throw new Error('The calendar file has no single event');
  const read = new ICAL.Event(event);
  const person = (property: ICAL.Property) => ({
    name: String(property.getParameter('cn')),
    address: String(property.getFirstValue()).replace(/^mailto:/i, ''),
  });
  const organizer = event.getFirstProperty('organizer');
  if (organizer === null) throw new Error('The event has no organizer');
  return {
    method: String(calendar.getFirstPropertyValue('method')),
    uid: read.uid,
    sequence: Number(event.getFirstPropertyValue('sequence')),
    status: String(event.getFirstPropertyValue('status')),
    summary: read.summary,
    location: read.location,
    description: read.description,
    startsAt: read.startDate.toUnixTime(),
    endsAt: read.endDate.toUnixTime(),
    organizer: person(organizer),
    attendees: event.getAllProperties('attendee').map((attendee) => ({
      ...person(attendee),
      rsvp: String(attendee.getParameter('rsvp')),
    })),
  };
}

function decode(body: string, headers: string): string {
  switch (headerOf(headers, 'Content-Transfer-Encoding')?.toLowerCase()) {
    case 'base64':
      return Buffer.from(body, 'base64').toString('utf8');
    case 'quoted-printable': {
      const bytes = body
        .replace(/=\r\n/g, '')
        .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
      return Buffer.from(bytes, 'latin1').toString('utf8');
    }
    default:
      return body;
  }
}
