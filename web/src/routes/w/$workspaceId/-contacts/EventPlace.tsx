import type { Outputs } from '@lynxroom/client';
import { Link } from '@tanstack/react-router';
import { useWorkspaceId } from '../../../../lib/workspace.ts';

type Event = Pick<
  Outputs['contacts']['read']['events'][number],
  'room_id' | 'room_name' | 'room_display_name' | 'booking_page_id' | 'booking_page_title'
>;

/** The room or the booking page of a contact event. */
export function EventPlace({ event }: { event: Event }) {
  const id = useWorkspaceId();
  const { room_id, room_name, room_display_name, booking_page_id, booking_page_title } = event;
  if (room_name !== null) {
    return (
      <Link
        to="/w/$workspaceId/rooms/$roomName"
        params={{ workspaceId: String(id), roomName: room_name }}
        className="link"
      >
        {room_display_name ?? room_name}
      </Link>
    );
  }
  if (booking_page_id !== null && booking_page_title !== null) {
    return (
      <Link
        to="/w/$workspaceId/booking-pages/$pageId"
        params={{ workspaceId: String(id), pageId: String(booking_page_id) }}
        className="link"
      >
        {booking_page_title}
      </Link>
    );
  }
  if (room_id !== null) return 'A deleted room';
  return booking_page_id === null ? null : 'A deleted booking page';
}
