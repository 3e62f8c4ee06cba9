import { randomUUID } from 'node:crypto';
import { createToken, hashToken } from '../../auth/tokens.ts';
import { notFound, tooManyRequests, tooManyTries } from '../../core/errors.ts';
import { toMailbox } from '../../core/mailbox.ts';
import { fromUnixSeconds, toUnixSeconds } from '../../core/time.ts';
import { isExclusionViolation } from '../../db/errors.ts';
import { onlyRow } from '../../db/only-row.ts';
import { toMailParams } from '../../mail/queue-mail.ts';
import { requireWithinQuota } from '../../quotas/quotas.ts';
import type { Services, Settings } from '../../services.ts';
import {
  type BookingFacts,
  bookingTokenSeal,
  toBookingMails,
  toConfirmMail,
  toReminderTime,
} from '../booking-mails/booking-mails.ts';
import { APPROVE_MS, CONFIRM_MS } from '../booking-pages/host-calendar.ts';
import { toContactAddress } from '../contacts/contact-parts.ts';
import { toRoomParams } from '../rooms/create-room.ts';
import { generateLongRoomName } from '../rooms/suggest-room-name.ts';
import { type BookablePage, findBookablePage } from './bookable-page.ts';
import { hashNetwork, isBeyondHost, requireWithinBounds, toBounds } from './booking-bounds.ts';
import { toNewBookingData } from './booking-events.ts';
import { insertBooking, lockHost } from './insert-booking.ts';
import { toNewTime } from './new-time.ts';
import { notAvailable, requireOffered } from './offered-times.ts';
import { toGuestLinks } from './present.ts';
import type { BookedMeeting, BookInput } from './schemas.ts';

type Needs = Pick<Services, 'db' | 'clock' | 'settings' | 'sealer'>;

/** `roomName` is null if the booking must be confirmed first. */
type Meeting = {
  id: number;
  uid: string;
  roomName: string | null;
  awaits: BookedMeeting['awaits'];
  endsAt: Date;
  token: string;
};

const MAX_TRIES = 10;

const MAX_DISPLAY_NAME = 100;

/** The limit on mail covers an hour. */
const RETRY_AFTER_SECONDS = 3_600;

/** Rolls back a transaction that must be retried because the data has changed in the meantime. */
class ChangedError extends Error {}

/**
 * Books a meeting on a page. Creates a scheduled room of the host, with a waiting room. Also creates a contact for the
 * guest unless the workspace already has one with this address. Emits `room.created`, `booking.created`, and
 * `contact.created` for a new contact. A host has one calendar: if several guests book the same time on any of the
 * host's pages, exactly one of them succeeds.
 *
 * Throws 404 "Booking page not found". Throws 409 if the time is taken, not offered or more than 365 days from now, if
 * the mailbox has three upcoming bookings on the page, or if the workspace has reached its quota of rooms. Throws 429
 * if too many meetings with the host were booked within 24 hours from the network. If too many were booked in total,
 * the booking waits until the guest confirms it or, where no mail is sent, the host approves it. `network` is the
 * guest's network, or null if the guest is exempt from rate limits. `appUrl` is the base URL of the frontend.
 */
export async function bookMeeting(
  services: Needs,
  input: BookInput,
  network: string | null,
  appUrl: string,
): Promise<BookedMeeting> {
  let workspaceId: number | undefined;
  let isWaiting = false;
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const page = await findBookablePage(services.db.sql, input.slug);
    workspaceId ??= page.workspaceId;
    // Since the first try, the slug has passed to a page of another workspace, which is not the page that the guest
    // meant.
    if (page.workspaceId !== workspaceId) throw notFound('Booking page');
    const meeting = await tryToBook(services, page, input, { network, isWaiting });
    if (meeting === 'beyond the limit') isWaiting = true;
    else if (meeting !== null) return toBookedMeeting(meeting, page, input, appUrl);
  }
  throw tooManyTries();
}

/**
 * Adds the booking, its room, its contact and the contact event that analytics counts. Returns null if the caller must
 * retry, because the page has changed since it was read, the generated room name is taken, or another transaction has
 * just added the contact, or `beyond the limit` if the caller must retry with `isWaiting`. Throws 409 or 429.
 */
async function tryToBook(
  services: Needs,
  page: BookablePage,
  input: BookInput,
  { network, isWaiting }: { network: string | null; isWaiting: boolean },
): Promise<Meeting | 'beyond the limit' | null> {
  const { db, clock, settings, sealer } = services;
  const { name, email, starts_at, time_zone } = input;
  const at = clock.now();
  const startsAt = fromUnixSeconds(starts_at);
  // No lock is needed: `insertBooking` checks that the page has not changed.
  requireOffered(page, startsAt, at);
  const newTime = toNewTime(page, startsAt);
  const { endsAt } = newTime;
  const { workspaceId, userId, userName } = page;
  const guest = { name, email, timeZone: time_zone ?? null };
  const host = { bookingPageId: page.id, title: page.title, hostId: userId, hostName: userName };
  const token = createToken('lnb_');
  const tokenHash = hashToken(token);
  const awaits = toAwaits(page, settings, isWaiting);
  const confirmToken = awaits === 'guest' ? createToken('lnm_') : null;
  const confirmBy = toConfirmBy(awaits, startsAt, at);
  // The room name is chosen here, because the mail contains it. A name with a number is hardly ever taken.
  const roomName = generateLongRoomName();
  const facts = toFacts(page, { ...input, startsAt, endsAt, token, roomName });
  // Room names can be guessed, so guests wait until the host admits them.
  const access = { waiting_room_enabled: 1 } as const;
  const roomSettings = { ...access, scheduled_at: starts_at, display_name: toDisplayName(page.title, name) };
  const values = {
    workspaceId,
    bookingPageId: page.id,
    pageVersion: page.version,
    ...toRoomParams({ userId, name: userName }, roomSettings, at),
    roomName,
    at,
    contactQuota: settings.quotas.contacts,
    ...guest,
    address: toContactAddress(email),
    mailbox: toMailbox(email),
    networkHash: network === null ? null : hashNetwork(network, userId),
    tokenHash,
    sealedToken: sealer.seal(token, bookingTokenSeal(tokenHash)),
    confirmBy,
    isWaiting,
    confirmHash: confirmToken === null ? null : hashToken(confirmToken),
    reminderAt: toReminderTime(page, startsAt, at),
    uid: facts.uid,
    ...newTime,
    bookingData: toNewBookingData({ ...guest, ...host, startsAt, endsAt, sequence: 0, createdAt: at }),
    ...toBounds(settings, at),
    roomQuota: settings.quotas.rooms,
    ...toMailParams(
      services,
      confirmBy === null
        ? toBookingMails(facts, { change: 'booked', at })
        : confirmToken === null
          ? []
          : [toConfirmMail(facts, confirmToken, { at, until: confirmBy })],
    ),
  };
  try {
    return await db.sql.transact(async (sql) => {
      // Both statements are sent together. The second starts only once the first holds its locks, and therefore sees
      // every booking of the host.
      const [, rows] = await Promise.all([
        sql.run(lockHost, { workspaceId, userId, now: at }),
        sql.run(insertBooking, values),
      ]);
      const { is_current, is_taken, rooms, id, mails, ...counts } = onlyRow(rows);
      if (!is_current) throw new ChangedError();
      if (is_taken) throw notAvailable();
      requireWithinBounds(settings, counts);
      if (!isWaiting && isBeyondHost(settings, counts)) return 'beyond the limit';
      requireWithinQuota(settings.quotas, 'rooms', (rooms ?? 0) + 1);
      if (id === null) throw new ChangedError();
      if (confirmToken !== null && mails === 0) throw tooManyConfirmations();
      return { id, uid: facts.uid, roomName: awaits === null ? roomName : null, awaits, endsAt, token };
    });
  } catch (error) {
    if (error instanceof ChangedError) return null;
    throw isExclusionViolation(error) ? notAvailable() : error;
  }
}

/** Who must confirm a booking before it counts: its page may require it, and so does a host with too many bookings. */
function toAwaits({ confirmEmail }: BookablePage, { sendsMail }: Settings, isWaiting: boolean): Meeting['awaits'] {
  if (isWaiting) return sendsMail ? 'guest' : 'host';
  return confirmEmail ? 'guest' : null;
}

function toConfirmBy(awaits: Meeting['awaits'], startsAt: Date, at: Date): Date | null {
  if (awaits === null) return null;
  const ms = awaits === 'guest' ? CONFIRM_MS : APPROVE_MS;
  return new Date(Math.min(at.getTime() + ms, startsAt.getTime()));
}

/** The 429 for a booking that nobody could confirm, because its mail was not queued. */
function tooManyConfirmations() {
  const message = 'Too many bookings with this email address are waiting for confirmation: try again later';
  return tooManyRequests(message, RETRY_AFTER_SECONDS);
}

function toFacts(
  page: BookablePage,
  booking: BookInput & { startsAt: Date; endsAt: Date; token: string; roomName: string },
): BookingFacts {
  return {
    workspaceId: page.workspaceId,
    uid: randomUUID(),
    sequence: 0,
    title: page.title,
    slug: page.slug,
    startsAt: booking.startsAt,
    endsAt: booking.endsAt,
    hostName: page.userName,
    hostEmail: page.userEmail,
    notifiesHost: page.notifyHost,
    guestName: booking.name,
    guestEmail: booking.email,
    timeZone: page.timeZone,
    guestTimeZone: booking.time_zone ?? null,
    roomName: booking.roomName,
    token: booking.token,
  };
}

export function toDisplayName(title: string, name: string): string {
  return [...`${title}: ${name}`].slice(0, MAX_DISPLAY_NAME).join('').trim();
}

function toBookedMeeting(
  { id, uid, roomName, awaits, endsAt, token }: Meeting,
  { title, slug, userName }: BookablePage,
  { name, starts_at, time_zone }: BookInput,
  appUrl: string,
): BookedMeeting {
  return {
    id,
    uid,
    title,
    slug,
    host_name: userName,
    starts_at,
    ends_at: toUnixSeconds(endsAt),
    name,
    time_zone: time_zone ?? null,
    room_name: roomName,
    status: awaits === null ? 'confirmed' : 'unconfirmed',
    awaits,
    cancelled_at: null,
    sequence: 0,
    ...toGuestLinks(appUrl, slug, token),
    cancel_token: token,
  };
}
