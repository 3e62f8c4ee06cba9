/** Cancelling a meeting, by whoever has its link, and by the workspace. */
import type { Actor } from '../../auth/identify.ts';
import { hashToken, isToken } from '../../auth/tokens.ts';
import { lockWorkspace, requireCurrentRole } from '../../auth/workspace-lock.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { Prisma, type Tx, transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { recordContactEvent } from '../contacts/record-contact-event.ts';
import type { BookingInput, CancelInput } from './schemas.ts';

/** `userId`: of who is booked. */
type Meeting = {
  id: number;
  userId: number;
  bookingPageId: number;
  contactId: number | null;
  roomId: number | null;
  startsAt: Date;
  cancelledAt: Date | null;
};

/**
 * Cancels the meeting whose token it is, under whatever slug its page is by now: its time is free again, and its room
 * goes, unless somebody has come to it. For what is cancelled already nothing happens. Throws 404 "Booking not found"
 * for what is no token of a booking, and 409 once the meeting has begun.
 */
export async function cancelByToken(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { token }: CancelInput,
): Promise<{ ok: true }> {
  if (!isToken('lnb_', token)) throw notFound('Booking');
  const tokenHash = hashToken(token);
  const booking = await db.booking.findUnique({ where: { tokenHash }, select: { workspaceId: true } });
  if (booking === null) throw notFound('Booking');
  const { workspaceId } = booking;
  await transact(db, async (tx) => {
    await lockWorkspace(tx, workspaceId, 'Booking');
    const meeting = await findMeeting(tx, workspaceId, Prisma.sql`b.token_hash = ${tokenHash}`);
    await cancel(tx, workspaceId, meeting, clock.now());
  });
  return { ok: true };
}

/** Call it with the workspace's row locked: who is booked, and whether it is cancelled, change behind that lock alone. */
async function findMeeting(tx: Tx, workspaceId: number, which: Prisma.Sql): Promise<Meeting | undefined> {
  const [meeting] = await tx.$queryRaw<Meeting[]>`
    select b.id, p.user_id as "userId", b.booking_page_id as "bookingPageId", b.contact_id as "contactId",
      b.room_id as "roomId", b.starts_at as "startsAt", b.cancelled_at as "cancelledAt"
    from bookings b join booking_pages p on p.workspace_id = b.workspace_id and p.id = b.booking_page_id
    where b.workspace_id = ${workspaceId} and ${which}`;
  return meeting;
}

/** Throws 404 for no meeting, and 409 for one that has begun. */
async function cancel(tx: Tx, workspaceId: number, meeting: Meeting | undefined, at: Date): Promise<void> {
  if (meeting === undefined) throw notFound('Booking');
  const { id, bookingPageId, contactId, roomId, startsAt, cancelledAt } = meeting;
  if (cancelledAt !== null) return;
  if (startsAt <= at) throw conflict('The meeting has begun');
  await tx.booking.updateMany({ where: { workspaceId, id }, data: { cancelledAt: at } });
  if (roomId !== null) await releaseRoom(tx, workspaceId, roomId);
  await recordContactEvent(tx, { workspaceId, type: 'booking_cancelled', contactId, roomId: null, bookingPageId, at });
}

/** Deletes the room to which nobody has ever come, be it to wait; one with a past stays, and waits for no meeting any more. */
async function releaseRoom(tx: Tx, workspaceId: number, roomId: number): Promise<void> {
  // Whoever is entering or recording holds the row until they commit; what they wrote is looked for after that, in a
  // statement of its own.
  await tx.$queryRaw`select id from rooms where workspace_id = ${workspaceId} and id = ${roomId} for update`;
  const deleted = await tx.$executeRaw`
    delete from rooms r where r.workspace_id = ${workspaceId} and r.id = ${roomId}
      and not exists (select from participants p where p.workspace_id = r.workspace_id and p.room_id = r.id)
      and not exists (select from recordings c where c.workspace_id = r.workspace_id and c.room_id = r.id)`;
  if (deleted === 0)
    await tx.$executeRaw`
      update rooms set scheduled_at = null where workspace_id = ${workspaceId} and id = ${roomId}`;
}

/**
 * The same for owners and admins of the workspace, and for who is booked. Throws 403 for everybody else, by their role
 * at that moment, then 404 "Booking not found", and 409 once the meeting has begun.
 */
export async function cancelByTeam(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { bookingId }: BookingInput,
): Promise<{ ok: true }> {
  const { workspaceId, userId } = actor;
  await transact(db, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const meeting = await findMeeting(tx, workspaceId, Prisma.sql`b.id = ${bookingId}`);
    await requireCurrentRole(tx, actor, meeting?.userId === userId ? 'member' : 'admin');
    await cancel(tx, workspaceId, meeting, clock.now());
  });
  return { ok: true };
}
