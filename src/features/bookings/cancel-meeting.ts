/** Cancelling a meeting, by the guest and by the workspace. */
import type { Actor } from '../../auth/identify.ts';
import { hashToken, isToken } from '../../auth/tokens.ts';
import { lockWorkspace, requireCurrentRole } from '../../auth/workspace-lock.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { Prisma, type Tx, transact } from '../../db/client.ts';
import type { Services } from '../../services.ts';
import { recordContactEvent } from '../contacts/record-contact-event.ts';
import type { BookingInput, CancelInput } from './schemas.ts';

/** `userId` is the host's. */
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
 * Cancels the meeting that has this token; the slug in the path does not matter. The time becomes available again. The
 * room is deleted, unless someone has joined it, has waited to be admitted, or has made a recording in it. A meeting
 * that is already cancelled does not change. Throws 404 "Booking not found" if no booking has the token, and 409 once
 * the meeting has started.
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

/** Call it with the workspace locked: the host and the cancellation change only under that lock. */
async function findMeeting(tx: Tx, workspaceId: number, which: Prisma.Sql): Promise<Meeting | undefined> {
  const [meeting] = await tx.$queryRaw<Meeting[]>`
    select b.id, p.user_id as "userId", b.booking_page_id as "bookingPageId", b.contact_id as "contactId",
      b.room_id as "roomId", b.starts_at as "startsAt", b.cancelled_at as "cancelledAt"
    from bookings b join booking_pages p on p.workspace_id = b.workspace_id and p.id = b.booking_page_id
    where b.workspace_id = ${workspaceId} and ${which}`;
  return meeting;
}

/** Throws 404 if there is no meeting, and 409 if it has started. */
async function cancel(tx: Tx, workspaceId: number, meeting: Meeting | undefined, at: Date): Promise<void> {
  if (meeting === undefined) throw notFound('Booking');
  const { id, bookingPageId, contactId, roomId, startsAt, cancelledAt } = meeting;
  if (cancelledAt !== null) return;
  if (startsAt <= at) throw conflict('The meeting has already started');
  await tx.booking.updateMany({ where: { workspaceId, id }, data: { cancelledAt: at } });
  if (roomId !== null) await deleteUnusedRoom(tx, workspaceId, roomId);
  await recordContactEvent(tx, { workspaceId, type: 'booking_cancelled', contactId, roomId: null, bookingPageId, at });
}

/** Deletes the room if nobody has ever joined, waited or recorded in it. Otherwise clears its scheduled time. */
async function deleteUnusedRoom(tx: Tx, workspaceId: number, roomId: number): Promise<void> {
  // Joining and recording lock the row until they commit. Their writes are visible only to statements after the one
  // that waits for the lock.
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
 * Cancels a meeting like `cancelByToken`, for its host and for owners and admins of the workspace. Throws 403 for
 * anyone else, then 404 "Booking not found", and 409 once the meeting has started. The role is checked with the
 * workspace locked.
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
