/** Mail about a booking, to its guest and to its host. */
import type { TextKey } from '../../languages/catalogue.ts';
import type { Language } from '../../languages/languages.ts';
import type { BookingChange, BookingMail } from '../kinds.ts';
import { createMailWriter } from '../texts.ts';
import { type MailContent, quoteStranger } from './content.ts';
import { describeTimes, formatStart } from './meeting-times.ts';

/** The subjects contain no text that a stranger can choose. */
type Texts = Readonly<Record<BookingChange, { subject: string; paragraph: string }>>;

const withOtherHost = { subject: 'mail.newHostSubject', paragraph: 'mail.newHostText' } as const;

const guestTexts = {
  booked: { subject: 'mail.bookedSubject', paragraph: 'mail.bookedText' },
  rescheduled: { subject: 'mail.movedSubject', paragraph: 'mail.movedText' },
  reminder: { subject: 'mail.reminderSubject', paragraph: 'mail.reminderText' },
  'new-host': withOtherHost,
  'passed-on': withOtherHost,
  cancelled: { subject: 'mail.cancelledSubject', paragraph: 'mail.cancelledText' },
} as const satisfies Readonly<Record<BookingChange, { subject: TextKey; paragraph: TextKey }>>;

/** The console of the host is in English. */
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
  const { change, booking, language = 'en' } = mail;
  const write = createMailWriter(language);
  const { subject, paragraph } = guestTexts[change];
  return toContent(mail, {
    language,
    subject: write(subject),
    paragraph: write(paragraph),
    person: [[write('mail.host'), quoteStranger(booking.host.name)]],
    replyTo: booking.host.email,
    linkLabel: write(change === 'cancelled' ? 'mail.bookAgain' : 'mail.manage'),
    ending: write('mail.bookingEnding'),
  });
}

export function bookingForHost(mail: BookingMail): MailContent {
  const { name, email } = mail.booking.guest;
  return toContent(mail, {
    language: 'en',
    ...hostTexts[mail.change],
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
  reader: {
    language: Language;
    subject: string;
    paragraph: string;
    person: readonly (readonly [string, string])[];
    /** The other person of the meeting. */
    replyTo: string;
    linkLabel: string;
    ending: string;
  },
): MailContent {
  const { language, subject, paragraph } = reader;
  const write = createMailWriter(language);
  const isRemoval = change === 'cancelled' || change === 'passed-on';
  const join = isRemoval || booking.room === null ? [] : [{ label: write('mail.join'), link: booking.room }];
  const own = link === null ? null : { label: reader.linkLabel, link };
  const [action, ...otherLinks] = [...join, ...(own === null ? [] : [own])];
  return {
    language,
    subject: `${subject}: ${formatStart(booking, language)}`,
    paragraphs: [paragraph],
    facts: [
      [write('mail.meeting'), quoteStranger(booking.title)],
      ...reader.person,
      ...describeTimes(booking, language),
    ],
    ...(action && { action, otherLinks }),
    ending: reader.ending,
    replyTo: reader.replyTo,
    calendar: { method: isRemoval ? 'CANCEL' : 'REQUEST', booking, ...(own !== null && !isRemoval && { link: own }) },
  };
}
