/** Booking a meeting. */
import { createToken, hashToken } from '../../auth/tokens.ts';
import { lockWorkspace } from '../../auth/workspace-lock.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { MINUTE_MS, SECOND_MS, toUnixSeconds } from '../../core/time.ts';
import { isExclusionViolation, type Tx, transact } from '../../db/client.ts';
import { onlyRow } from '../../db/only-row.ts';
import type { Services } from '../../services.ts';
import { isBookable, type TakenTime } from '../booking-pages/free-times.ts';
import { openHoursOf, pageUrl } from '../booking-pages/present.ts';
import { findOrAddContact, recordContactEvent } from '../contacts/record-contact-event.ts';
import { addRoom } from '../rooms/rooms.ts';
import { findPage, horizonOf, listTaken, type OpenPage } from './open-page.ts';
import type { BookedMeeting, BookInput } from './schemas.ts';

const MAX_DISPLAY_NAME = 100;
/** Of one address on one page: who books is a stranger, and each booking makes a room. */
const MAX_TO_COME = 3;

type NewBooking = {
  workspaceId: number;
  bookingPageId: number;
  contactId: number | null;
  roomId: number;
  name: string;
  email: string;
  tokenHash: Uint8Array<ArrayBuffer>;
  startsAt: Date;
  endsAt: Date;
  at: Date;
};

type Meeting = { id: number; page: OpenPage; endsAt: Date; roomName: string; token: string };

/**
 * Books a meeting on a page: with a scheduled room of who is booked, who lets in whoever comes, and the contact of who books; emits `room.created`.
 * Of many who want one time, one gets it. Throws 404 "Booking page not found", and 409 for a time that is taken, not
 * offered or more than 365 days from now, and for an address that has three meetings to come on the page. `appUrl` is where the frontend lives.
 */
export async function book(
  services: Pick<Services, 'db' | 'clock'>,
  input: BookInput,
  appUrl: string,
): Promise<BookedMeeting> {
  const { id, page, endsAt, roomName, token } = await transact(services.db, (tx) =>
    addMeeting(tx, services.clock.now(), input),
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
    cancel_url: `${pageUrl(appUrl, page.slug)}/cancel?token=${token}`,
    cancel_token: token,
  };
}

/** The meeting with its room, its contact and what analytics counts. Throws 404 and 409. */
async function addMeeting(tx: Tx, at: Date, { slug, name, email, starts_at }: BookInput): Promise<Meeting> {
  const startsAt = new Date(starts_at * SECOND_MS);
  const known = await findPage(tx, slug);
  // Asked before the lock: who would get nothing must not wait for it.
  requireOffered(known, startsAt, at, []);
  // Bookings of a workspace come one after another: they count its rooms, and two that want one time would otherwise
  // wait for each other in the index that excludes the second.
  await lockWorkspace(tx, known.workspaceId, 'Booking page');
  // Again: it may have been changed, passed on or deleted before the lock was had.
  const page = await findPage(tx, slug);
  const { id: bookingPageId, workspaceId, title, userId, userName } = page;
  // The slug may have gone to a page elsewhere.
  if (workspaceId !== known.workspaceId) throw notFound('Booking page');
  const endsAt = new Date(startsAt.getTime() + page.duration * MINUTE_MS);
  requireOffered(page, startsAt, at, await listTaken(tx, page, startsAt, endsAt));
  await requireFew(tx, page, email, at);
  // Its name is two words, and no key to the meeting.
  const door = { waiting_room_enabled: 1 } as const;
  const settings = { ...door, scheduled_at: starts_at, display_name: displayName(title, name) };
  const room = await addRoom(tx, { userId, name: userName }, { workspaceId, createdAt: at, ...settings });
  const contactId = await findOrAddContact(tx, { workspaceId, name, email, at });
  const token = createToken('lnb_');
  const people = { contactId, name, email, tokenHash: hashToken(token) };
  const booking = { workspaceId, bookingPageId, roomId: room.id, ...people, startsAt, endsAt, at };
  const id = await insertBooking(tx, booking);
  await recordContactEvent(tx, { workspaceId, type: 'booking', contactId, roomId: null, bookingPageId, at });
  return { id, page, endsAt, roomName: room.name, token };
}

/** Throws 409 for a time that the page does not offer, with this taken, and for one beyond the horizon. */
function requireOffered(page: OpenPage, startsAt: Date, now: Date, taken: readonly TakenTime[]): void {
  const hours = { openHours: openHoursOf(page), durationMinutes: page.duration, taken, now };
  if (startsAt > horizonOf(now) || !isBookable(hours, startsAt)) throw notAvailable();
}

function notAvailable() {
  return conflict('This time is not available');
}

/** Throws 409 for an address that has as many meetings before it on the page as one may. */
async function requireFew(tx: Tx, { workspaceId, id }: OpenPage, email: string, now: Date): Promise<void> {
  const toCome = await tx.booking.count({
    where: { workspaceId, bookingPageId: id, email, cancelledAt: null, startsAt: { gt: now } },
  });
  if (toCome >= MAX_TO_COME) throw conflict('This address has bookings to come already');
}

function displayName(title: string, name: string): string {
  return [...`${title}: ${name}`].slice(0, MAX_DISPLAY_NAME).join('').trim();
}

async function insertBooking(tx: Tx, booking: NewBooking): Promise<number> {
  const { workspaceId, bookingPageId, contactId, roomId, name, email, tokenHash, startsAt, endsAt, at } = booking;
  const rows = await tx.$queryRaw<{ id: number }[]>`
    insert into bookings (workspace_id, booking_page_id, contact_id, room_id, name, email, token_hash, starts_at,
      ends_at, created_at)
    values (${workspaceId}, ${bookingPageId}, ${contactId}::int, ${roomId}, ${name}, ${email}, ${tokenHash}, ${startsAt},
      ${endsAt}, ${at})
    returning id`;
  return onlyRow(rows).id;
}
