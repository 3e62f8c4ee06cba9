import type { Outputs } from '@lynxroom/client';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { DoorOpen } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../../components/Badge.tsx';
import { Button } from '../../../../components/Button.tsx';
import { CopyButton } from '../../../../components/CopyButton.tsx';
import { EmptyState } from '../../../../components/EmptyState.tsx';
import { CheckboxField } from '../../../../components/Form.tsx';
import { InfiniteTable } from '../../../../components/Table.tsx';
import { Time } from '../../../../components/Time.tsx';
import { trpc } from '../../../../lib/client.ts';
import { toRoomUrl } from '../../../../lib/room-url.ts';
import { useAccount } from '../../../../lib/session.ts';
import { useWorkspace } from '../../../../lib/workspace.ts';
import { isEmptyRange, noFilters, toInput } from './filters.ts';
import { JoinLink } from './JoinLink.tsx';
import { ListFilters } from './ListFilters.tsx';

const PAGE_SIZE = 50;

type Room = Outputs['rooms']['listInWorkspace']['rooms'][number];

/** The rooms of the workspace, with a search. Everybody joins them. `onCreate` is for those who may create rooms. */
export function RoomTable({ onCreate }: { onCreate: (() => void) | undefined }) {
  const { id } = useWorkspace();
  const me = useAccount();
  const [filters, setFilters] = useState(noFilters);
  // Each booking makes a room. They would hide the rooms of the team.
  const [showsBooked, setShowsBooked] = useState(false);
  const wanted = toInput(filters, me?.id);
  const rooms = useInfiniteQuery({
    ...trpc.rooms.listInWorkspace.infiniteQueryOptions(
      { id, limit: PAGE_SIZE, ...wanted, ...(!showsBooked && { booked: 0 }) },
      { getNextPageParam: (page) => page.next_cursor },
    ),
    enabled: !isEmptyRange(filters),
    // What was found before stays until the next is there.
    placeholderData: keepPreviousData,
  });
  const isFiltered = Object.keys(wanted).length > 0;
  const icon = <DoorOpen aria-hidden size={32} />;
  return (
    <>
      <ListFilters
        label="Search rooms"
        placeholder="Title or name of the room"
        filters={filters}
        onChange={(change) => setFilters((before) => ({ ...before, ...change }))}
      >
        <div className="flex h-10 items-center">
          <CheckboxField
            name="booked"
            label="Also rooms of bookings"
            checked={showsBooked}
            onChange={({ target }) => setShowsBooked(target.checked)}
          />
        </div>
      </ListFilters>
      <InfiniteTable
        list={rooms}
        rowsOf={(page) => page.rooms}
        failure="The rooms could not be loaded"
        empty={
          isFiltered ? (
            <EmptyState icon={icon} title="No room matches" />
          ) : (
            <EmptyState
              icon={icon}
              title="There are no rooms yet"
              action={
                onCreate && (
                  <Button tone="primary" onClick={onCreate}>
                    Create the first room
                  </Button>
                )
              }
            >
              {onCreate
                ? 'A room has a link of its own, with which people meet in the browser.'
                : 'The owner and admins create rooms.'}
            </EmptyState>
          )
        }
        caption="Rooms"
        keyOf={(room) => room.id}
        columns={[
          { heading: 'Room', cell: (room) => <RoomName room={room} />, className: 'min-w-48' },
          { heading: 'Scheduled', cell: ({ scheduled_at }) => scheduled_at !== null && <Time at={scheduled_at} /> },
          { heading: 'Recordings', cell: ({ recording_count }) => recording_count, isNumber: true },
          { heading: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
          {
            heading: 'Actions',
            isHeadingHidden: true,
            className: 'w-36 py-1',
            cell: ({ name, display_name }) => (
              <div className="flex items-center justify-end gap-1">
                <JoinLink roomName={name} title={display_name ?? name} />
                <CopyButton text={toRoomUrl(name)} label={`Copy the link of ${name}`} />
              </div>
            ),
          },
        ]}
      />
    </>
  );
}

function RoomName({ room }: { room: Room }) {
  const { id } = useWorkspace();
  return (
    <>
      <Link
        to="/w/$workspaceId/rooms/$roomName"
        params={{ workspaceId: String(id), roomName: room.name }}
        className="link font-medium"
      >
        {room.display_name ?? room.name}
      </Link>{' '}
      {room.locked === 1 && <Badge tone="warning">Locked</Badge>}{' '}
      {room.members_only === 1 && <Badge>Members only</Badge>}
      {room.display_name !== null && <span className="block text-sm text-muted">{room.name}</span>}
    </>
  );
}
