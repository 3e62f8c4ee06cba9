/** The booked meetings of the workspace. */
import type { Outputs } from '@lynxroom/client';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { createFileRoute, Link } from '@tanstack/react-router';
import { CalendarClock, CalendarX2, Check, Ellipsis, Rss, X } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../components/Badge.tsx';
import { Button, IconButton } from '../../../components/Button.tsx';
import { ConfirmDialog } from '../../../components/Dialog.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { Menu, MenuItem } from '../../../components/Menu.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { InfiniteTable } from '../../../components/Table.tsx';
import { Time } from '../../../components/Time.tsx';
import { client, trpc } from '../../../lib/client.ts';
import { nowSeconds } from '../../../lib/clock.ts';
import { useAccount } from '../../../lib/session.ts';
import { showError, showSuccess } from '../../../lib/toasts.ts';
import { useHasRole, useWorkspace } from '../../../lib/workspace.ts';
import { CalendarFeedDialog } from './-booking/CalendarFeed.tsx';
import { MoveDialog } from './-booking/MoveDialog.tsx';

type Booking = Outputs['bookings']['list']['bookings'][number];

type Question = { kind: 'move' | 'cancel'; booking: Booking };

const PAGE_SIZE = 50;
const DAY = 86_400;
const PAST_DAYS = 30;

export const Route = createFileRoute('/w/$workspaceId/bookings')({ component: BookingsPage });

function BookingsPage() {
  const [isFeedOpen, setIsFeedOpen] = useState(false);
  // Computed once, when chosen. It is part of the query key, so a new value would start a new list.
  const [from, setFrom] = useState<number | undefined>(undefined);
  const [isMine, setIsMine] = useState(false);
  const me = useAccount();
  return (
    <>
      <PageHeader
        title="Bookings"
        text="Meetings that guests have booked, in your time zone"
        actions={
          <>
            <Button
              aria-pressed={from !== undefined}
              onClick={() => setFrom(from === undefined ? Math.floor(nowSeconds()) - PAST_DAYS * DAY : undefined)}
            >
              {from === undefined ? `Show the last ${PAST_DAYS} days` : 'Show only upcoming'}
            </Button>
            <Button aria-pressed={isMine} onClick={() => setIsMine(!isMine)}>
              {isMine ? 'Show those of all hosts' : 'Show only mine'}
            </Button>
            <Button icon={<Rss aria-hidden size={16} />} onClick={() => setIsFeedOpen(true)}>
              Calendar feed
            </Button>
          </>
        }
      />
      <BookingTable from={from} hostId={isMine ? me?.id : undefined} />
      {isFeedOpen && <CalendarFeedDialog onClose={() => setIsFeedOpen(false)} />}
    </>
  );
}

function BookingTable({ from, hostId }: { from: number | undefined; hostId: number | undefined }) {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const mayChange = useMayChange();
  const [question, setQuestion] = useState<Question | null>(null);
  const bookings = useInfiniteQuery(
    trpc.bookings.list.infiniteQueryOptions(
      {
        id,
        limit: PAGE_SIZE,
        ...(from !== undefined && { from }),
        ...(hostId !== undefined && { host_id: hostId }),
      },
      { getNextPageParam: (page) => page.next_cursor },
    ),
  );
  const approve = useMutation({
    mutationFn: (booking: Booking) => client.bookings.approve.mutate({ id, bookingId: booking.id }),
    onSuccess: () => showSuccess('The meeting is confirmed'),
    onError: (error) => showError('Could not approve the booking', error),
    onSettled: () => queryClient.invalidateQueries(trpc.bookings.pathFilter()),
  });
  return (
    <>
      <InfiniteTable
        list={bookings}
        rowsOf={(page) => page.bookings}
        failure="The bookings could not be loaded"
        empty={
          <EmptyState icon={<CalendarX2 aria-hidden size={32} />} title="Nothing is booked">
            Meetings appear here when a guest books one on a booking page.
          </EmptyState>
        }
        caption="Bookings"
        keyOf={(booking) => booking.id}
        columns={[
          { heading: 'Starts', cell: ({ starts_at }) => <Time at={starts_at} isRelative={false} /> },
          {
            heading: 'Guest',
            className: 'min-w-48',
            cell: (booking) => <Guest booking={booking} />,
          },
          {
            heading: 'Meeting',
            className: 'min-w-40',
            cell: (booking) => <Meeting booking={booking} />,
          },
          {
            heading: 'Actions',
            isHeadingHidden: true,
            className: 'w-14 py-1',
            cell: (booking) =>
              mayChange(booking) && (
                <Menu
                  trigger={
                    <IconButton
                      label={`Actions on the meeting with ${booking.name}`}
                      icon={<Ellipsis aria-hidden size={18} />}
                    />
                  }
                >
                  {booking.status === 'unconfirmed' && (
                    <MenuItem icon={<Check aria-hidden size={16} />} onSelect={() => approve.mutate(booking)}>
                      Approve
                    </MenuItem>
                  )}
                  {booking.status === 'confirmed' && (
                    <MenuItem
                      icon={<CalendarClock aria-hidden size={16} />}
                      onSelect={() => setQuestion({ kind: 'move', booking })}
                    >
                      Move
                    </MenuItem>
                  )}
                  <MenuItem
                    isDanger
                    icon={<X aria-hidden size={16} />}
                    onSelect={() => setQuestion({ kind: 'cancel', booking })}
                  >
                    Cancel
                  </MenuItem>
                </Menu>
              ),
          },
        ]}
      />
      {question?.kind === 'move' && <MoveDialog booking={question.booking} onClose={() => setQuestion(null)} />}
      {question?.kind === 'cancel' && (
        <ConfirmDialog
          onClose={() => setQuestion(null)}
          title={`Cancel the meeting with ${question.booking.name}?`}
          text="The guest is told by mail, and the time is free again. This cannot be undone."
          action="Cancel the meeting"
          onConfirm={async () => {
            await client.bookings.cancelByTeam.mutate({ id, bookingId: question.booking.id });
            await queryClient.invalidateQueries(trpc.bookings.pathFilter());
            showSuccess('The meeting was cancelled');
          }}
        />
      )}
    </>
  );
}

/** The owner, admins, and the host of a meeting may move and cancel it, until it begins. */
function useMayChange(): (booking: Booking) => boolean {
  const me = useAccount();
  const isAdmin = useHasRole('admin');
  return ({ status, starts_at, host_id }) =>
    status !== 'cancelled' && starts_at > nowSeconds() && (isAdmin || host_id === me?.id);
}

function Guest({ booking: { contact_id, name, email } }: { booking: Booking }) {
  const { id } = useWorkspace();
  return (
    <>
      {contact_id === null ? (
        <span className="font-medium wrap-anywhere">{name}</span>
      ) : (
        <Link
          to="/w/$workspaceId/contacts/$contactId"
          params={{ workspaceId: String(id), contactId: String(contact_id) }}
          className="link font-medium wrap-anywhere"
        >
          {name}
        </Link>
      )}
      <span className="block text-sm wrap-anywhere text-muted">{email}</span>
    </>
  );
}

function Meeting({ booking: { title, host_name, status, awaits, room_name, overlaps } }: { booking: Booking }) {
  const { id } = useWorkspace();
  return (
    <>
      {title} {status === 'cancelled' && <Badge tone="danger">Cancelled</Badge>}
      {status === 'unconfirmed' && (
        <Badge tone="warning">{awaits === 'host' ? 'Waits for approval' : 'Not confirmed'}</Badge>
      )}
      {overlaps === 1 && <Badge tone="warning">Overlaps</Badge>}
      <span className="block text-sm wrap-anywhere text-muted">{host_name}</span>
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
