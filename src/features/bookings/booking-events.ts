/** The data of booking events. */
import { toUnixSeconds } from '../../core/time.ts';
import type { EventData } from '../../events/catalogue.ts';
import type { Meeting } from './find-meeting.ts';

/** The fields added by the statement that inserts the booking. */
type AddedData = 'workspace_id' | 'booking_id' | 'contact_id' | 'room_name';

type NewMeeting = Omit<
  Meeting,
  | 'id'
  | 'uid'
  | 'workspaceId'
  | 'slug'
  | 'contactId'
  | 'roomId'
  | 'roomName'
  | 'cancelledAt'
  | 'confirmBy'
  | 'isWaiting'
  | 'awaitsGuest'
  | 'reminderMinutes'
>;

/** Returns the data of an event about a meeting. */
export function toBookingData(meeting: Meeting): EventData<'booking.created'> {
  const { id, workspaceId, contactId, roomName } = meeting;
  const ids = { workspace_id: workspaceId, booking_id: id, contact_id: contactId, room_name: roomName };
  return { ...ids, ...toNewBookingData(meeting) };
}

/** Returns the data of the event about a meeting that is being booked. */
export function toNewBookingData(meeting: NewMeeting): Omit<EventData<'booking.created'>, AddedData> {
  const { bookingPageId, title, hostId, hostName, name, email, timeZone, startsAt, endsAt } = meeting;
  return {
    booking_page_id: bookingPageId,
    title,
    host_id: hostId,
    host_name: hostName,
    guest_name: name,
    guest_email: email,
    guest_time_zone: timeZone,
    starts_at: toUnixSeconds(startsAt),
    ends_at: toUnixSeconds(endsAt),
    sequence: meeting.sequence,
    created_at: toUnixSeconds(meeting.createdAt),
  };
}
