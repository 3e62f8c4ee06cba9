/** Mail about a booking, to its guest and to its host. */
import type { BookingChange, BookingMail } from '../kinds.ts';
import { type MailContent, quoteStranger } from './content.ts';
import { describeTimes, formatStart } from './meeting-times.ts';

/** The subjects contain no text that a stranger can choose. */
type Texts = Readonly<Record<BookingChange, { subject: string; paragraph: string }>>;

const withOtherHost = {
  subject: 'Meeting with a different host',
  paragraph: 'Your meeting will take place at the same time, but with a different host.',
};

const guestTexts: Texts = {
  booked: { subject: 'Meeting booked', paragraph: 'Your meeting is booked.' },
  rescheduled: { subject: 'Meeting moved', paragraph: 'Your meeting now takes place at this time.' },
  reminder: { subject: 'Meeting soon', paragraph: 'This is a reminder of your meeting.' },
  'new-host': withOtherHost,
  'passed-on': withOtherHost,
  cancelled: { subject: 'Meeting cancelled', paragraph: 'Your meeting has been cancelled and will not take place.' },
};

const hostTexts: Texts = {
  booked: { subject: 'New booking', paragraph: 'Somebody has booked a meeting with you.' },
  rescheduled: { subject: 'Booking moved', paragraph: 'A meeting with you now takes place at this time.' },
  reminder: { subject: 'Meeting soon', paragraph: 'This is a reminder of a meeting with you.' },
  'new-host': {
    subject: 'A booking was passed on to you',
    paragraph: 'The host of this meeting has left the workspace. You are the host now.',
  },
  'passed-on': {
    subject: 'A booking was passed on to another host',
    paragraph: 'You have left the workspace. Its owner is the host of this meeting now.',
  },
  cancelled: {
    subject: 'Booking cancelled',
    paragraph: 'A meeting with you has been cancelled and will not take place.',
  },
};

export function bookingForGuest(mail: BookingMail): MailContent {
  return toContent(mail, guestTexts, {
    person: [['Host', quoteStranger(mail.booking.host.name)]],
    replyTo: mail.booking.host.email,
    linkLabel: mail.change === 'cancelled' ? 'Book another time' : 'View, move or cancel the meeting',
    ending: 'You are receiving this message because somebody booked this meeting with your address.',
  });
}

export function bookingForHost(mail: BookingMail): MailContent {
  const { name, email } = mail.booking.guest;
  return toContent(mail, hostTexts, {
    person: [
      ['Guest', quoteStranger(name)],
      ['Address of the guest', email],
    ],
    replyTo: email,
    linkLabel: 'View your bookings',
    ending: 'You are receiving this message because the meeting was booked on your booking page.',
  });
}

function toContent(
  { change, booking, link }: BookingMail,
  texts: Texts,
  reader: {
    person: readonly (readonly [string, string])[];
    /** The other person of the meeting. */
    replyTo: string;
    linkLabel: string;
    ending: string;
  },
): MailContent {
  const { subject, paragraph } = texts[change];
  const isRemoval = change === 'cancelled' || change === 'passed-on';
  const join = isRemoval || booking.room === null ? [] : [{ label: 'Join the meeting', link: booking.room }];
  const own = link === null ? null : { label: reader.linkLabel, link };
  const [action, ...otherLinks] = [...join, ...(own === null ? [] : [own])];
  return {
    subject: `${subject}: ${formatStart(booking)}`,
    paragraphs: [paragraph],
    facts: [['Meeting', quoteStranger(booking.title)], ...reader.person, ...describeTimes(booking)],
    ...(action && { action, otherLinks }),
    ending: reader.ending,
    replyTo: reader.replyTo,
    calendar: { method: isRemoval ? 'CANCEL' : 'REQUEST', booking, ...(own !== null && !isRemoval && { link: own }) },
  };
}
