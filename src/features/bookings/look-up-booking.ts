import type { Services } from '../../services.ts';
import { findMeetingByToken } from './find-meeting.ts';
import { toGuestBooking } from './present.ts';
import type { GuestBooking, TokenInput } from './schemas.ts';

/**
 * Returns the booking that has this token, even if the meeting is over or cancelled. The slug in the path is ignored.
 * Throws 404 "Booking not found".
 */
export async function lookUpBooking(
  { db }: Pick<Services, 'db'>,
  { token }: TokenInput,
  appUrl: string,
): Promise<GuestBooking> {
  return toGuestBooking(await findMeetingByToken(db.sql, token), token, appUrl);
}
