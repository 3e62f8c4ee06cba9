import { createToken, hashToken } from '../../auth/tokens.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { fromUnixSeconds, MINUTE_MS, toUnixSeconds } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { isExclusionViolation } from '../../db/errors.ts';
import { onlyRow } from '../../db/only-row.ts';
import { sqlIn } from '../../db/sql.ts';
import { requireWithinQuota } from '../../quotas/quotas.ts';
import type { Services } from '../../services.ts';
import { lockCalendar } from '../booking-pages/host-calendar.ts';
import { toBookingPageUrl, toOpeningHours } from '../booking-pages/present.ts';
import { findOrCreateContact } from '../contacts/find-or-create-contact.ts';
import { recordContactEvent } from '../contacts/record-contact-event.ts';
import { addRoom } from '../rooms/create-room.ts';
import { isAvailable, type TakenTime } from './available-times.ts';
import { type BookablePage, bookingHorizon, findBookablePage, listTakenTimes } from './bookable-page.ts';
import { hashNetwork, requireWithinBounds } from './booking-bounds.ts';
import { toMailbox } from './mailbox.ts';
import type { BookedMeeting, BookInput } from './schemas.ts';

const MAX_DISPLAY_NAME = 100;

type NewBooking = {
  workspaceId: number;
  bookingPageId: number;
  /** The host. */
  userId: number;
  contactId: number | null;
  roomId: number;
  name: string;
  email: string;
  mailbox: string;
  networkHash: Uint8Array<ArrayBuffer> | null;
  tokenHash: Uint8Array<ArrayBuffer>;
  startsAt: Date;
  endsAt: Date;
  at: Date;
};

type Meeting = { id: number; page: BookablePage; endsAt: Date; roomName: string; token: string };

/**
 * Books a meeting on a page. Creates a scheduled room, which belongs to the host and has a waiting room, and a contact
 * for the guest if the workspace has none with this address. Emits `room.created`. A host has one calendar: if several
 * guests want the same time, on any of the host's pages, exactly one of them gets it.
 *
 * Throws 404 "Booking page not found", and 409 if the time is taken, not offered or more than 365 days from now, if the
 * mailbox has three upcoming bookings on the page, or if the workspace has reached its quota of rooms. Throws 429 if
 * too many meetings were booked from the network, or with the host, in 24 hours. `network` is that of the guest, or
 * null if limits do not apply to them. `appUrl` is the base URL of the frontend.
 */
export async function bookMeeting(
  services: Pick<Services, 'db' | 'clock' | 'settings'>,
  input: BookInput,
  network: string | null,
  appUrl: string,
): Promise<BookedMeeting> {
  const { id, page, endsAt, roomName, token } = await transact(services.db, (tx) =>
    addMeeting(tx, services, input, network),
  ).catch((error: unknown): never => {
    throw isExclusionViolation(error) ? notAvailable() : error;
  });
  return {
    id,
    title: page.title,
    starts_at: input.starts_at,
    ends_at: toUnixSeconds(endsAt),
    name: input.name,
    room_name: roomName,
    cancel_url: `${toBookingPageUrl(appUrl, page.slug)}/cancel?token=${token}`,
    cancel_token: token,
  };
}

/** Adds the booking, its room, its contact and the event that analytics counts. Throws 404, 409 and 429. */
async function addMeeting(
  tx: Tx,
  { clock, settings }: Pick<Services, 'clock' | 'settings'>,
  { slug, name, email, starts_at }: BookInput,
  network: string | null,
): Promise<Meeting> {
  const at = clock.now();
  const startsAt = fromUnixSeconds(starts_at);
  const unlockedPage = await findBookablePage(sqlIn(tx), slug);
  // Checked before the lock too, so that a request that would fail anyway does not wait for it.
  requireAvailable(unlockedPage, startsAt, at, []);
  const workspace = await lockWorkspace(tx, unlockedPage.workspaceId, 'Booking page');
  // The page may have changed or been deleted before the lock was acquired, and another page may have its slug.
  const page = await findBookablePage(sqlIn(tx), slug);
  const { id: bookingPageId, workspaceId, title, userId, userName } = page;
  // The slug now belongs to a page of another workspace, which is not locked.
  if (workspaceId !== unlockedPage.workspaceId) throw notFound('Booking page');
  // The host cannot change while the workspace is locked.
  await lockCalendar(tx, userId);
  const endsAt = new Date(startsAt.getTime() + page.duration * MINUTE_MS);
  requireAvailable(page, startsAt, at, await listTakenTimes(sqlIn(tx), page, startsAt, endsAt));
  const counted = { mailbox: toMailbox(email), networkHash: network === null ? null : hashNetwork(network, userId) };
  await requireWithinBounds(tx, settings, page, counted, at);
  // The room's name is two words that can be guessed, so guests wait until the host admits them.
  const access = { waiting_room_enabled: 1 } as const;
  const roomSettings = { ...access, scheduled_at: starts_at, display_name: toDisplayName(title, name) };
  requireWithinQuota(settings.quotas, 'rooms', workspace.room_count + 1);
  const room = await addRoom(sqlIn(tx), { userId, name: userName }, { workspaceId, createdAt: at, ...roomSettings });
  const contactId = await findOrCreateContact(sqlIn(tx), settings.quotas, { workspaceId, name, email, at });
  const token = createToken('lnb_');
  const guest = { contactId, name, email, ...counted, tokenHash: hashToken(token) };
  const booking = { workspaceId, bookingPageId, userId, roomId: room.id, ...guest, startsAt, endsAt, at };
  const id = await insertBooking(tx, booking);
  await recordContactEvent(tx, { workspaceId, type: 'booking', contactId, roomId: null, bookingPageId, at });
  return { id, page, endsAt, roomName: room.name, token };
}

/** Throws 409 if the page does not offer the time, or if it is taken or beyond the booking horizon. */
function requireAvailable(page: BookablePage, startsAt: Date, now: Date, taken: readonly TakenTime[]): void {
  const availability = { openingHours: toOpeningHours(page), durationMinutes: page.duration, taken, now };
  if (startsAt > bookingHorizon(now) || !isAvailable(availability, startsAt)) throw notAvailable();
}

function notAvailable() {
  return conflict('This time is not available');
}

function toDisplayName(title: string, name: string): string {
  return [...`${title}: ${name}`].slice(0, MAX_DISPLAY_NAME).join('').trim();
}

async function insertBooking(tx: Tx, booking: NewBooking): Promise<number> {
  const { workspaceId, bookingPageId, userId, contactId, roomId, startsAt, endsAt, at } = booking;
  const { name, email, mailbox, networkHash, tokenHash } = booking;
  const rows = await tx.$queryRaw<{ id: number }[]>`
    insert into bookings (workspace_id, booking_page_id, user_id, contact_id, room_id, name, email, mailbox,
      network_hash, token_hash, starts_at, ends_at, created_at)
    values (${workspaceId}, ${bookingPageId}, ${userId}, ${contactId}::int, ${roomId}, ${name}, ${email}, ${mailbox},
      ${networkHash}::bytea, ${tokenHash}, ${startsAt}, ${endsAt}, ${at})
    returning id`;
  return onlyRow(rows).id;
}
