/** The booked meetings of the workspace. */
import type { Outputs } from '@lynxroom/client';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { createFileRoute, Link } from '@tanstack/react-router';
import { CalendarX2, Rss } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../components/Badge.tsx';
import { Button } from '../../../components/Button.tsx';
import { ConfirmDialog } from '../../../components/Dialog.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { ErrorPanel } from '../../../components/ErrorPanel.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { SkeletonRows } from '../../../components/Skeleton.tsx';
import { Table } from '../../../components/Table.tsx';
import { Time } from '../../../components/Time.tsx';
import { client, trpc } from '../../../lib/client.ts';
import { showSuccess } from '../../../lib/toasts.ts';
import { useWorkspace } from '../../../lib/workspace.ts';
import { CalendarFeedDialog } from './-booking/CalendarFeed.tsx';

type Booking = Outputs['bookings']['list']['bookings'][number];

const PAGE_SIZE = 50;

export const Route = createFileRoute('/w/$workspaceId/bookings')({ component: BookingsPage });

function BookingsPage() {
  const [isFeedOpen, setIsFeedOpen] = useState(false);
  return (
    <>
      <PageHeader
        title="Bookings"
        text="Meetings that guests have booked, in your time zone"
        actions={
          <Button icon={<Rss aria-hidden size={16} />} onClick={() => setIsFeedOpen(true)}>
            Calendar feed
          </Button>
        }
      />
      <BookingTable />
      <CalendarFeedDialog isOpen={isFeedOpen} onClose={() => setIsFeedOpen(false)} />
    </>
  );
}

function BookingTable() {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const [asked, setAsked] = useState<Booking | null>(null);
  const bookings = useInfiniteQuery(
    trpc.bookings.list.infiniteQueryOptions({ id, limit: PAGE_SIZE }, { getNextPageParam: (page) => page.next_cursor }),
  );
  if (bookings.isPending) return <SkeletonRows />;
  if (bookings.isError) {
    return (
      <ErrorPanel what="The bookings could not be loaded" error={bookings.error} onRetry={() => bookings.refetch()} />
    );
  }
  const rows = bookings.data.pages.flatMap((page) => page.bookings);
  if (rows.length === 0) {
    return (
      <EmptyState icon={<CalendarX2 aria-hidden size={32} />} title="Nothing is booked">
        Meetings appear here when a guest books one on a booking page.
      </EmptyState>
    );
  }
  return (
    <>
      <Table
        caption="Bookings"
        rows={rows}
        keyOf={(booking) => booking.id}
        columns={[
          { heading: 'Starts', cell: ({ starts_at }) => <Time at={starts_at} isRelative={false} /> },
          {
            ...{ heading: 'Guest', className: 'min-w-48' },
            cell: ({ name, email }) => (
              <>
                <span className="font-medium">{name}</span>
                <span className="block text-sm text-muted">{email}</span>
              </>
            ),
          },
          {
            ...{ heading: 'Meeting', className: 'min-w-40' },
            cell: (booking) => <Meeting booking={booking} />,
          },
          {
            ...{ heading: 'Actions', isHeadingHidden: true, className: 'w-24 py-1' },
            cell: (booking) =>
              booking.status !== 'cancelled' &&
              booking.starts_at * 1000 > Date.now() && (
                <Button size="small" aria-label={`Cancel ${booking.name}`} onClick={() => setAsked(booking)}>
                  Cancel
                </Button>
              ),
          },
        ]}
      />
      {bookings.hasNextPage && (
        <p className="mt-4 text-center">
          <Button isPending={bookings.isFetchingNextPage} onClick={() => bookings.fetchNextPage()}>
            Show more
          </Button>
        </p>
      )}
      {asked && (
        <ConfirmDialog
          isOpen
          onOpenChange={() => setAsked(null)}
          title={`Cancel the meeting with ${asked.name}?`}
          text="The guest is told by mail, and the time is free again. This cannot be undone."
          action="Cancel the meeting"
          onConfirm={async () => {
            await client.bookings.cancelByTeam.mutate({ id, bookingId: asked.id });
            await queryClient.invalidateQueries(trpc.bookings.pathFilter());
            showSuccess('The meeting was cancelled');
          }}
        />
      )}
    </>
  );
}

function Meeting({ booking: { title, status, room_name, overlaps } }: { booking: Booking }) {
  const { id } = useWorkspace();
  return (
    <>
      {title} {status === 'cancelled' && <Badge tone="danger">Cancelled</Badge>}
      {status === 'unconfirmed' && <Badge tone="warning">Not confirmed</Badge>}
      {overlaps === 1 && <Badge tone="warning">Overlaps</Badge>}
      {room_name !== null && (
        <Link
          to="/w/$workspaceId/rooms/$roomName"
          params={{ workspaceId: String(id), roomName: room_name }}
          className="link block text-sm"
        >
          {room_name}
        </Link>
      )}
    </>
  );
}
