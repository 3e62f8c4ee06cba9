/** Finds a booked meeting, with everything that its guest, events and mail need. */
import { hashToken, isToken } from '../../auth/tokens.ts';
import { notFound } from '../../core/errors.ts';
import { bool, bytes, int, nullable, type RowOf, type Sql, statement, text, time } from '../../db/statements.ts';

/** `hostId` is the user ID of the current host of the page. `awaitsGuest` is only meaningful with `confirmBy`. */
export type Meeting = RowOf<typeof meetingById>;

const meetingById = declareFindMeeting('find-meeting-by-id', {
  params: { workspaceId: int, bookingId: int },
  where: 'b.workspace_id = $workspaceId and b.id = $bookingId',
});

const meetingByToken = declareFindMeeting('find-meeting-by-token', {
  params: { tokenHash: bytes },
  where: 'b.token_hash = $tokenHash',
});

function declareFindMeeting<
  Params extends Partial<{ workspaceId: typeof int; bookingId: typeof int; tokenHash: typeof bytes }>,
>(name: string, { params, where }: { params: Params; where: string }) {
  return statement(name, {
    params,
    returns: {
      id: int,
      uid: text,
      sequence: int,
      workspaceId: int,
      bookingPageId: int,
      title: text,
      slug: text,
      hostId: int,
      hostName: text,
      contactId: nullable(int),
      roomId: nullable(int),
      roomName: nullable(text),
      name: text,
      email: text,
      timeZone: nullable(text),
      startsAt: time,
      endsAt: time,
      cancelledAt: nullable(time),
      confirmBy: nullable(time),
      isWaiting: bool,
      awaitsGuest: bool,
      reminderMinutes: nullable(int),
      createdAt: time,
    },
    sql: `
      select b.id, b.uid::text, b.sequence, b.workspace_id as "workspaceId", b.booking_page_id as "bookingPageId",
        p.title, p.slug, p.user_id as "hostId", u.name as "hostName", c.id as "contactId", r.id as "roomId",
        r.name as "roomName", b.name, b.email, b.time_zone as "timeZone", b.starts_at as "startsAt",
        b.ends_at as "endsAt", b.cancelled_at as "cancelledAt", b.confirm_by as "confirmBy",
        b.is_waiting as "isWaiting", b.confirm_hash is not null as "awaitsGuest",
        p.reminder_minutes as "reminderMinutes", b.created_at as "createdAt"
      from bookings b
      join booking_pages p on p.workspace_id = b.workspace_id and p.id = b.booking_page_id
      join users u on u.id = p.user_id
      left join contacts c on c.workspace_id = b.workspace_id and c.id = b.contact_id
      left join rooms r on r.workspace_id = b.workspace_id and r.id = b.room_id
      where ${where}`,
  });
}

/** Finds the meeting that has this token. Throws 404 "Booking not found". */
export async function findMeetingByToken(sql: Sql, token: string): Promise<Meeting> {
  if (!isToken('lnb_', token)) throw notFound('Booking');
  const [meeting] = await sql.run(meetingByToken, { tokenHash: hashToken(token) });
  if (!meeting) throw notFound('Booking');
  return meeting;
}

/** Finds a meeting of the workspace. Returns undefined if no meeting has this ID. */
export async function findMeeting(sql: Sql, workspaceId: number, bookingId: number): Promise<Meeting | undefined> {
  const [meeting] = await sql.run(meetingById, { workspaceId, bookingId });
  return meeting;
}
