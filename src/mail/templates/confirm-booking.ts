import type { MailData } from '../kinds.ts';
import { type MailContent, quoteStranger } from './content.ts';
import { describeTimes, formatTimeOfDay } from './meeting-times.ts';

export function confirmBooking({ booking, link, until }: MailData['confirm-booking']): MailContent {
  return {
    subject: 'Confirm your booking',
    paragraphs: [
      `Somebody wants to book a meeting using this email address. Please confirm the booking by ` +
        `${formatTimeOfDay(until, booking.timeZone)}: after that, others can book the time.`,
    ],
    facts: [
      ['Meeting', quoteStranger(booking.title)],
      ['Host', quoteStranger(booking.host.name)],
      ...describeTimes(booking),
    ],
    action: { label: 'Confirm the booking', link },
    ending: 'If you did not book this meeting, ignore this message: nothing is booked without a confirmation.',
  };
}
