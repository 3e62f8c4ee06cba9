import type { MailData } from '../kinds.ts';
import { createMailWriter } from '../texts.ts';
import { type MailContent, quoteStranger } from './content.ts';
import { describeTimes, formatTimeOfDay } from './meeting-times.ts';

export function confirmBooking({ booking, link, until, language = 'en' }: MailData['confirm-booking']): MailContent {
  const write = createMailWriter(language);
  return {
    language,
    subject: write('mail.confirmSubject'),
    paragraphs: [write('mail.confirmText', { time: formatTimeOfDay(until, booking.timeZone, language) })],
    facts: [
      [write('mail.meeting'), quoteStranger(booking.title)],
      [write('mail.host'), quoteStranger(booking.host.name)],
      ...describeTimes(booking, language),
    ],
    action: { label: write('mail.confirmAction'), link },
    ending: write('mail.confirmEnding'),
  };
}
