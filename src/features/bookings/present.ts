import { toUnixSeconds } from '../../core/time.ts';
import { toBookingPageUrl } from '../booking-pages/present.ts';
import type { Meeting } from './find-meeting.ts';
import type { GuestBooking } from './schemas.ts';

/** Maps a meeting to the shape that its guest sees. `appUrl` is the base URL of the frontend. */
export function toGuestBooking(meeting: Meeting, token: string, appUrl: string): GuestBooking {
  const { id, uid, title, slug, hostName, startsAt, endsAt, name, roomName, timeZone, sequence, cancelledAt } = meeting;
  return {
    id,
    uid,
    title,
    slug,
    host_name: hostName,
    starts_at: toUnixSeconds(startsAt),
    ends_at: toUnixSeconds(endsAt),
    name,
    time_zone: timeZone,
    room_name: roomName,
    status: toStatus(meeting),
    awaits: toAwaits(meeting),
    cancelled_at: cancelledAt === null ? null : toUnixSeconds(cancelledAt),
    sequence,
    ...toGuestLinks(appUrl, slug, token),
  };
}

function toStatus({ cancelledAt, confirmBy }: Meeting): GuestBooking['status'] {
  if (cancelledAt !== null) return 'cancelled';
  return confirmBy === null ? 'confirmed' : 'unconfirmed';
}

function toAwaits({ cancelledAt, confirmBy, awaitsGuest }: Meeting): GuestBooking['awaits'] {
  if (cancelledAt !== null || confirmBy === null) return null;
  return awaitsGuest ? 'guest' : 'host';
}

/**
 * Returns the links for a guest. The token of `manage_url` is in the fragment. Browsers do not send the fragment, so
 * the token stays out of the logs of web servers.
 */
export function toGuestLinks(appUrl: string, slug: string, token: string) {
  const page = toBookingPageUrl(appUrl, slug);
  return { manage_url: `${page}/booking#token=${token}`, cancel_url: `${page}/cancel?token=${token}` };
}
