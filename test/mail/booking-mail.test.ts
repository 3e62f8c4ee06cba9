/** Mail about bookings as a mail server receives it, and its calendar files as another program reads them. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type BookingMail, linkTo, type MailedBooking } from '../../src/mail/kinds.ts';
import { sendDueMail } from '../../src/mail/mailer.ts';
import { type NewMail, queueMail, queueMails } from '../../src/mail/queue-mail.ts';
import { createSmtpTransport, type MailTransport } from '../../src/mail/smtp.ts';
import { type MailServer, type ReceivedMail, startMailServer } from '../support/mail-server.ts';
import { calendarOf, invitationOf, partsOf, replyToOf, textOf, withoutJoiners } from '../support/received-mail.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const source = { baseUrl: 'https://app.example.com', address: 'noreply@lynxroom.example' };

let app: TestApp;
let server: MailServer;
let transport: MailTransport;
beforeAll(async () => {
  app = await startTestApp();
  server = await startMailServer();
  transport = createSmtpTransport({ smtpUrl: server.url, from: { name: 'Lynxroom', address: source.address } });
});
beforeEach(async () => {
  await app.services.db.mailMessage.deleteMany();
  server.received.length = 0;
});
afterAll(async () => {
  transport.close();
  await server.close();
  await app.close();
});

const link = linkTo('/book/intro-call/booking', 'lnb_secret');

function bookingOf(parts: Partial<MailedBooking> = {}): MailedBooking {
  return {
    uid: '5f0c6f0e-59a5-4a0e-8a51-5ad3f2a8f9d3',
    sequence: 2,
    changedAt: Date.parse('2027-01-04T08:00:00Z') / 1000,
    title: 'Intro call',
    startsAt: Date.parse('2027-01-05T09:00:00Z') / 1000,
    endsAt: Date.parse('2027-01-05T09:30:00Z') / 1000,
    timeZone: 'Europe/Berlin',
    host: { name: 'Ada Admin', email: 'ada@example.com' },
    guest: { name: 'Vera Novak', email: 'vera@example.com' },
    room: '/room/amber-falcon',
    ...parts,
  };
}

async function receive(mail: NewMail): Promise<ReceivedMail> {
  expect(await queueMail(app.services, app.services.db.sql, mail)).toBe(true);
  await sendDueMail({ services: app.services, transport, source });
  const received = server.received.at(-1);
  if (!received) throw new Error('Nothing was received');
  return received;
}

function toGuest(parts: Partial<MailedBooking> = {}, change: BookingMail['change'] = 'booked'): Promise<ReceivedMail> {
  return receive({
    kind: 'booking-for-guest',
    to: 'vera@example.com',
    data: { change, booking: bookingOf(parts), link },
  });
}

test('a booking arrives as text, as HTML, and as an invitation inline and attached', async () => {
  const mail = await toGuest();
  const types = partsOf(mail).map(({ type }) => type.split(';')[0]);
  expect(types).toEqual(['text/plain', 'text/html', 'text/calendar', 'application/ics']);
  expect(textOf(mail)).toBe(`Meeting booked: 5 Jan 2027, 10:00

Your meeting is booked.

Meeting: Intro call
Host: Ada Admin
When: Tuesday, 5 January 2027, 10:00 to 10:30
Time zone: Europe/Berlin (GMT+01:00)

Join the meeting:
https://app.example.com/room/amber-falcon

View, move or cancel the meeting:
https://app.example.com${link}

You are receiving this message because somebody booked this meeting with your address.
`);
  expect(invitationOf(mail)).toEqual({
    method: 'REQUEST',
    uid: '5f0c6f0e-59a5-4a0e-8a51-5ad3f2a8f9d3',
    sequence: 2,
    status: 'CONFIRMED',
    summary: 'Intro call: Vera Novak and Ada Admin',
    location: 'https://app.example.com/room/amber-falcon',
    description: `View, move or cancel the meeting:\nhttps://app.example.com${link}`,
    startsAt: Date.parse('2027-01-05T09:00:00Z') / 1000,
    endsAt: Date.parse('2027-01-05T09:30:00Z') / 1000,
    organizer: { name: 'Ada Admin', address: 'noreply@lynxroom.example' },
    attendees: [
      { name: 'Vera Novak', address: 'vera@example.com', rsvp: 'TRUE' },
      { name: 'Ada Admin', address: 'ada@example.com', rsvp: 'TRUE' },
    ],
  });
});

test('a cancellation removes the meeting from the calendar, and has no link to its room', async () => {
  const mail = await toGuest({ sequence: 3 }, 'cancelled');
  expect(invitationOf(mail)).toMatchObject({ method: 'CANCEL', sequence: 3, status: 'CANCELLED' });
  expect(textOf(mail)).toMatch(/^Meeting cancelled: 5 Jan 2027, 10:00\n/);
  expect(textOf(mail)).not.toContain('/room/');
  expect([invitationOf(mail).description, replyToOf(mail)]).toEqual([null, 'ada@example.com']);
});

test('an answer goes to the other person of the meeting, and the link in an entry to its reader', async () => {
  expect(replyToOf(await toGuest())).toBe('ada@example.com');
  const hostLink = '/w/7/bookings';
  const toHost = await receive({
    kind: 'reminder-for-host',
    to: 'ada@example.com',
    data: { change: 'reminder', booking: bookingOf(), link: hostLink },
  });
  expect(replyToOf(toHost)).toBe('vera@example.com');
  expect(invitationOf(toHost).description).toBe(`View your bookings:\nhttps://app.example.com${hostLink}`);
  expect(calendarOf(toHost)).not.toContain('lnb_');
});

test('the link to confirm comes without an invitation, because the meeting is not booked yet', async () => {
  const until = Date.parse('2027-01-04T08:30:00Z') / 1000;
  const data = { booking: bookingOf(), link, until };
  const mail = await receive({ kind: 'confirm-booking', to: 'vera@example.com', data });
  expect([calendarOf(mail), replyToOf(mail)]).toEqual([null, undefined]);
  expect(textOf(mail)).toContain('by 09:30');
  expect(textOf(mail)).toContain(`Confirm the booking:\nhttps://app.example.com${link}\n`);
});

test.each([
  ['2027-03-28T00:30:00Z', '2027-03-28T01:30:00Z', 'Sunday, 28 March 2027, 01:30 to 03:30', 'GMT+01:00'],
  ['2027-10-31T00:30:00Z', '2027-10-31T01:00:00Z', 'Sunday, 31 October 2027, 02:30 to 02:00', 'GMT+02:00'],
  ['2027-10-31T01:30:00Z', '2027-10-31T02:00:00Z', 'Sunday, 31 October 2027, 02:30 to 03:00', 'GMT+01:00'],
])('a meeting at %s, when clocks change, has the local time and its offset', async (start, end, when, offset) => {
  const [startsAt, endsAt] = [Date.parse(start) / 1000, Date.parse(end) / 1000];
  const mail = await toGuest({ startsAt, endsAt });
  expect(textOf(mail)).toContain(`When: ${when}\nTime zone: Europe/Berlin (${offset})\n`);
  expect(invitationOf(mail)).toMatchObject({ startsAt, endsAt });
});

test('a meeting that ends on another day has both days', async () => {
  const mail = await toGuest({
    timeZone: 'Pacific/Auckland',
    startsAt: Date.parse('2027-01-05T10:45:00Z') / 1000,
    endsAt: Date.parse('2027-01-05T11:15:00Z') / 1000,
  });
  expect(textOf(mail)).toContain('When: Tuesday, 5 January 2027, 23:45 to Wednesday, 6 January 2027, 00:15\n');
  expect(textOf(mail)).toContain('Time zone: Pacific/Auckland (GMT+13:00)\n');
});

test('names are in one line, in mail also short and without anything that becomes a link', async () => {
  const name = `https://evil.example/x\r\nATTENDEE:mailto:x@evil.example ${'🎉漢'.repeat(60)}`;
  const guest = { name, email: 'vera@example.com' };
  const booking = bookingOf({
    title: 'Win "big"; call, www.evil.example',
    guest,
    host: { ...guest, email: 'ada@example.com' },
  });
  const data: BookingMail = { change: 'booked', booking, link: '/w/7/bookings' };
  const mail = await receive({ kind: 'booking-for-host', to: 'ada@example.com', data });
  const file = calendarOf(mail) ?? '';
  expect(textOf(mail) + partsOf(mail)[1]?.text).not.toMatch(/evil\.example|https:\/\/evil|mailto:x/);
  expect(withoutJoiners(textOf(mail))).toMatch(
    /\nGuest: https:\/\/evil\.example\/x ATTENDEE:mailto:x@evil\.example (?:🎉漢)+🎉?…\n/u,
  );
  for (const text of [textOf(mail), partsOf(mail)[1]?.text ?? '', file]) expect(text).not.toContain('\ufffd');
  const invitation = invitationOf(mail);
  const line = name.replace('\r\n', ' ');
  expect(invitation.attendees).toEqual([
    { name: line, address: 'vera@example.com', rsvp: 'TRUE' },
    { name: line, address: 'ada@example.com', rsvp: 'TRUE' },
  ]);
  expect(invitation.summary).toBe(`Win "big"; call, www.evil.example: ${line} and ${line}`);
  // RFC 5545, section 3.1: lines end with CRLF, and have at most 75 octets.
  const lines = file.split('\r\n');
  expect(lines.every((part) => !part.includes('\n') && Buffer.byteLength(part) <= 75)).toBe(true);
});

test.each([
  '1:1 review',
  'Node.js',
  'Acme S.A.',
  'Q&A: and/or, 10:30, v2.0, 1.2.3',
  'Dr. A. Smith (Ph.D.)',
  '.NET @ work',
  'Kick-off…',
])('"%s" is no link, and stays as it is in mail and in the calendar', async (title) => {
  const mail = await toGuest({ title, host: { name: title, email: 'ada@example.com' } });
  expect(textOf(mail)).toContain(`\nMeeting: ${title}\nHost: ${title}\n`);
  expect(invitationOf(mail)).toMatchObject({
    summary: `${title}: Vera Novak and ${title}`,
    organizer: { name: title },
  });
});

test.each([
  'evil.com',
  'EVIL.CO.UK/a?b=c',
  'go to (www.evil.example)!',
  'evil.com.js',
  'evil.xn--p1ai',
  'пример.рф',
  'उदाहरण.भारत',
  '例え。テスト',
  'ｅｖｉｌ．ｃｏｍ',
  'e\u00advil.c\u00adom',
  'http://127.0.0.1/x',
  'ftp://host',
  'mailto:x',
  'tel:+1900',
  'x@localhost',
  '\\\\server\\share',
])('"%s" looks the same in mail, but its parts are divided; not in the calendar', async (title) => {
  const mail = await toGuest({ title });
  const shown = /^Meeting: (.*)$/m.exec(textOf(mail))?.[1] ?? '';
  expect(withoutJoiners(shown)).toBe(title);
  const separator = '[.:/@\\\\\\u3002\\uff0e]';
  expect(shown).not.toMatch(new RegExp(`[^\\u2060\\s]${separator}|${separator}[^\\u2060\\s]`));
  expect(shown).toMatch(new RegExp(separator));
  expect(invitationOf(mail).summary).toBe(`${title}: Vera Novak and Ada Admin`);
});

test('messages of one statement count toward the limit of a recipient together', async () => {
  const { sql } = app.services.db;
  const mail: NewMail = {
    kind: 'confirm-booking',
    to: 'many@example.com',
    data: { booking: bookingOf(), link, until: 0 },
  };
  const other: NewMail = { ...mail, to: 'other@example.com' };
  expect(await queueMails(app.services, sql, [...Array<NewMail>(7).fill(mail), other])).toBe(6);
  expect(await queueMails(app.services, sql, [mail])).toBe(0);
  expect(await queueMails(app.services, sql, [])).toBe(0);
});
