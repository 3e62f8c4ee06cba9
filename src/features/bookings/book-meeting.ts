import { randomUUID } from 'node:crypto';
import { createToken, hashToken } from '../../auth/tokens.ts';
import { notFound, tooManyRequests, tooManyTries } from '../../core/errors.ts';
import { toMailbox } from '../../core/mailbox.ts';
import { fromUnixSeconds, toUnixSeconds } from '../../core/time.ts';
import { isExclusionViolation, NotBegunError } from '../../db/errors.ts';
import { onlyRow } from '../../db/only-row.ts';
import type { Sql } from '../../db/statements.ts';
import { queueMails } from '../../mail/queue-mail.ts';
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
import { addContactOfBooking } from '../contacts/add-contact.ts';
import { toContactAddress } from '../contacts/contact-address.ts';
import { addRoom } from '../rooms/insert-room.ts';
import { generateLongRoomName } from '../rooms/suggest-room-name.ts';
import { type BookablePage, findBookablePage } from './bookable-page.ts';
import { hashNetwork, isBeyondHost, requireWithinBounds, toBounds } from './booking-bounds.ts';
import { checkBooking, insertBooking, lockHost } from './insert-booking.ts';
import { toNewRoom } from './new-room.ts';
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
  // No lock is needed: `checkBooking` checks that the page has not changed.
  requireOffered(page, startsAt, at);
  const newTime = toNewTime(page, startsAt);
  const { endsAt } = newTime;
  const { workspaceId, userId } = page;
  const token = createToken('lnb_');
  const tokenHash = hashToken(token);
  const awaits = toAwaits(page, settings, isWaiting);
  const confirmToken = awaits === 'guest' ? createToken('lnm_') : null;
  const confirmBy = toConfirmBy(awaits, startsAt, at);
  // The room name is chosen here, because the mail contains it. A name with a number is hardly ever taken.
  const roomName = generateLongRoomName();
  const facts = toFacts(page, { ...input, startsAt, endsAt, token, roomName });
  const address = toContactAddress(email);
  const checked = {
    workspaceId,
    userId,
    bookingPageId: page.id,
    pageVersion: page.version,
    mailbox: toMailbox(email),
    networkHash: network === null ? null : hashNetwork(network, userId),
    at,
    ...newTime,
    ...toBounds(settings, at),
    isWaiting,
    roomQuota: settings.quotas.rooms,
  };
  const booking = {
    ...checked,
    uid: facts.uid,
    name,
    email,
    timeZone: time_zone ?? null,
    language: input.language ?? null,
    tokenHash,
    sealedToken: sealer.seal(token, bookingTokenSeal(tokenHash)),
    confirmBy,
    confirmHash: confirmToken === null ? null : hashToken(confirmToken),
    reminderAt: toReminderTime(page, startsAt, at),
  };
  const confirmMail =
    confirmToken === null || confirmBy === null ? [] : [toConfirmMail(facts, confirmToken, { at, until: confirmBy })];
  const bookedMail = toBookingMails(facts, { change: 'booked', at });
  try {
    return await db.sql.transact(async (sql) => {
      const id = await lockAndCheck(sql, settings, checked);
      if (id === 'beyond the limit') return id;
      const meeting = { id, uid: facts.uid, awaits, endsAt, token };
      if (confirmBy !== null) {
        const [, mails] = await Promise.all([
          sql.run(insertBooking, { ...booking, id, roomName: null, address: null }),
          queueMails(services, sql, confirmMail),
        ]);
        if (mails < confirmMail.length) throw tooManyConfirmations();
        return { ...meeting, roomName: null };
      }
      // All are sent together. The booking finds its room and its contact by what identifies them.
      const [roomId, hasContact] = await Promise.all([
        addRoom(sql, toNewRoom({ page, guestName: name, startsAt, roomName, at })),
        addContactOfBooking(sql, settings.quotas, { workspaceId, name, address, bookingPageId: page.id, at }),
        sql.run(insertBooking, { ...booking, id, roomName, address }),
        queueMails(services, sql, bookedMail),
      ]);
      if (roomId === null || !hasContact) throw new ChangedError();
      return { ...meeting, roomName };
    });
  } catch (error) {
    if (error instanceof ChangedError || error instanceof NotBegunError) return null;
    throw isExclusionViolation(error) ? notAvailable() : error;
  }
}

/** Locks the calendar of the host, and returns the ID for a booking that is permitted now. Throws 409 or 429. */
async function lockAndCheck(
  sql: Sql,
  settings: Settings,
  values: Parameters<typeof checkBooking.encode>[0],
): Promise<number | 'beyond the limit'> {
  const { workspaceId, userId, at, isWaiting } = values;
  // Both statements are sent together. The second starts only once the first holds its locks, and therefore sees every
  // booking of the host.
  const [, rows] = await Promise.all([
    sql.run(lockHost, { workspaceId, userId, now: at }),
    sql.run(checkBooking, values),
  ]);
  const { is_current, is_taken, rooms, id, ...counts } = onlyRow(rows);
  if (!is_current) throw new ChangedError();
  if (is_taken) throw notAvailable();
  requireWithinBounds(settings, counts);
  if (!isWaiting && isBeyondHost(settings, counts)) return 'beyond the limit';
  requireWithinQuota(settings.quotas, 'rooms', (rooms ?? 0) + 1);
  if (id === null) throw new ChangedError();
  return id;
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
    language: booking.language ?? page.branding.language,
    roomName: booking.roomName,
    token: booking.token,
  };
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
