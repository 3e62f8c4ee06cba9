import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { buttonClass } from '../../../../components/Button.tsx';
import { Time } from '../../../../components/Time.tsx';
import { useHasRole, useWorkspaceId } from '../../../../lib/workspace.ts';
import { JoinLink } from '../-rooms/JoinLink.tsx';
import { Card } from './Card.tsx';
import { bookingsOptions } from './queries.ts';

/** What guests have booked, soonest first. */
export function NextBookings() {
  const id = useWorkspaceId();
  const mayCreate = useHasRole('admin');
  const params = { workspaceId: String(id) };
  const bookings = useQuery(bookingsOptions(id));
  return (
    <Card
      title="Next bookings"
      actions={
        <Link to="/w/$workspaceId/bookings" params={params} className={buttonClass('secondary', 'small')}>
          All bookings
        </Link>
      }
      list={bookings}
      rowsOf={(page) => page.bookings}
      failure="The bookings could not be loaded"
      keyOf={({ id }) => id}
      empty={
        <>
          Nothing is booked.{' '}
          {mayCreate && (
            <>
              Guests book on a{' '}
              <Link to="/w/$workspaceId/booking-pages" params={params} className="link">
                booking page
              </Link>
              .
            </>
          )}
        </>
      }
    >
      {({ title, name, host_name, starts_at, room_name }) => (
        <>
          <span className="min-w-0">
            <span className="font-medium wrap-anywhere">{name}</span>{' '}
            <span className="wrap-anywhere text-muted">{title}</span>
            <span className="block text-sm wrap-anywhere text-muted">
              <Time at={starts_at} isRelative={false} />, with {host_name}
            </span>
          </span>
          {room_name !== null && <JoinLink roomName={room_name} title={`${title} with ${name}`} />}
        </>
      )}
    </Card>
  );
}
