/** Mail about bookings, to their guests and hosts. */
import type { SealContext } from '../../core/sealing.ts';
import { MINUTE_MS, toUnixSeconds } from '../../core/time.ts';
import type { Language } from '../../languages/languages.ts';
import { type BookingChange, linkTo, type MailedBooking, type PagePath } from '../../mail/kinds.ts';
import type { NewMail } from '../../mail/queue-mail.ts';

/** The data for mail about a booking. The host fields describe the current host of the booking page. */
export type BookingFacts = {
  workspaceId: number;
  uid: string;
  sequence: number;
  title: string;
  slug: string;
  startsAt: Date;
  endsAt: Date;
  hostName: string;
  hostEmail: string;
  /** Whether the host gets mail about the bookings of the page. */
  notifiesHost: boolean;
  guestName: string;
  guestEmail: string;
  /** `timeZone` is the time zone of the page. `guestTimeZone` is null if the guest did not send one. */
  timeZone: string;
  guestTimeZone: string | null;
  /** The language of mail to the guest: theirs, else that of the workspace; null for English. */
  language: Language | null;
  roomName: string | null;
  /** The token of the guest. Null if the token is not stored or cannot be opened; the mail then has no link. */
  token: string | null;
};

export type Report = {
  change: BookingChange;
  /** When the booking changed. */
  at: Date;
  /** Whether the page and the workspace still exist. */
  hasPage?: boolean;
};

/** The context for sealing the token of a guest, which the links in later mail need. */
export function bookingTokenSeal(tokenHash: Uint8Array): SealContext {
  return { owner: `booking:${Buffer.from(tokenHash).toString('hex')}`, purpose: 'booking token' };
}

/** Returns when the reminder of a meeting is due; null if the page sends no reminders or that time has passed. */
export function toReminderTime(
  { reminderMinutes }: { reminderMinutes: number | null },
  startsAt: Date,
  now: Date,
): Date | null {
  if (reminderMinutes === null) return null;
  const due = new Date(startsAt.getTime() - reminderMinutes * MINUTE_MS);
  return due > now ? due : null;
}

/** Returns the mail to the guest, and the mail to the host if the page sends it. */
export function toBookingMails(facts: BookingFacts, report: Report): NewMail[] {
  return [toGuestMail(facts, report), ...(facts.notifiesHost ? [toHostMail(facts, report)] : [])];
}

export function toGuestMail(facts: BookingFacts, { change, at, hasPage = true }: Report): NewMail {
  const { slug, token, guestTimeZone, timeZone } = facts;
  const booking = toMailedBooking(facts, guestTimeZone ?? timeZone, at);
  const ownLink = token === null ? null : linkTo(`/book/${slug}/booking`, token);
  const link = change === 'cancelled' ? (`/book/${slug}` as const) : ownLink;
  return {
    kind: `${kindOf(change)}-for-guest`,
    workspaceId: facts.workspaceId,
    to: facts.guestEmail,
    data: { change, booking, link: hasPage ? link : null, ...languageOf(facts) },
    ...toDelivery(facts, change, 'guest'),
  };
}

export function toHostMail(facts: BookingFacts, { change, at, hasPage = true }: Report): NewMail {
  const booking = toMailedBooking(facts, facts.timeZone, at);
  const link: PagePath | null = hasPage && change !== 'passed-on' ? `/w/${facts.workspaceId}/bookings` : null;
  return {
    kind: `${kindOf(change)}-for-host`,
    workspaceId: facts.workspaceId,
    to: facts.hostEmail,
    data: { change, booking, link },
    ...toDelivery(facts, change, 'host'),
  };
}

/** Returns the mail with the link that confirms a booking. `confirmToken` differs from the token of the guest. */
export function toConfirmMail(
  facts: BookingFacts,
  confirmToken: string,
  { at, until }: { at: Date; until: Date },
): NewMail {
  return {
    kind: 'confirm-booking',
    workspaceId: facts.workspaceId,
    to: facts.guestEmail,
    data: {
      booking: toMailedBooking(facts, facts.guestTimeZone ?? facts.timeZone, at),
      link: linkTo(`/book/${facts.slug}/booking`, confirmToken),
      until: toUnixSeconds(until),
      ...languageOf(facts),
    },
    expiresAt: until,
  };
}

function languageOf({ language }: BookingFacts): { language?: Language } {
  return language === null ? {} : { language };
}

function kindOf(change: BookingChange): 'booking' | 'reminder' | 'cancellation' {
  if (change === 'reminder') return 'reminder';
  return change === 'cancelled' || change === 'passed-on' ? 'cancellation' : 'booking';
}

/** A message expires when the meeting ends, and a reminder when it begins. */
function toDelivery(facts: BookingFacts, change: BookingChange, reader: 'guest' | 'host') {
  return change === 'reminder'
    ? { expiresAt: facts.startsAt, dedupeKey: reminderKey(facts, reader) }
    : { expiresAt: facts.endsAt };
}

/** Identifies a queued reminder, so that it can be dropped when the booking changes. */
export function reminderKey(
  { uid, sequence }: Pick<BookingFacts, 'uid' | 'sequence'>,
  reader: 'guest' | 'host',
): string {
  return `reminder:${uid}:${sequence}:${reader}`;
}

function toMailedBooking(facts: BookingFacts, timeZone: string, at: Date): MailedBooking {
  return {
    uid: facts.uid,
    sequence: facts.sequence,
    changedAt: toUnixSeconds(at),
    title: facts.title,
    startsAt: toUnixSeconds(facts.startsAt),
    endsAt: toUnixSeconds(facts.endsAt),
    timeZone,
    host: { name: facts.hostName, email: facts.hostEmail },
    guest: { name: facts.guestName, email: facts.guestEmail },
    room: facts.roomName === null ? null : `/room/${facts.roomName}`,
  };
}
