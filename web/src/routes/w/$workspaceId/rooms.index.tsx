/** The rooms of the workspace. */
import type { Outputs } from '@lynxroom/client';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { createFileRoute, Link, useNavigate } from '@tanstack/react-router';
import { DoorOpen, Plus } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../components/Badge.tsx';
import { Button } from '../../../components/Button.tsx';
import { CopyButton } from '../../../components/CopyButton.tsx';
import { Dialog } from '../../../components/Dialog.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { ErrorPanel } from '../../../components/ErrorPanel.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { SkeletonRows } from '../../../components/Skeleton.tsx';
import { Table } from '../../../components/Table.tsx';
import { Time } from '../../../components/Time.tsx';
import { trpc } from '../../../lib/client.ts';
import { isAtLeast } from '../../../lib/roles.ts';
import { useAccount } from '../../../lib/session.ts';
import { useWorkspace } from '../../../lib/workspace.ts';
import { RoomForm, toRoomUrl } from './-rooms/RoomForm.tsx';

const PAGE_SIZE = 50;

export const Route = createFileRoute('/w/$workspaceId/rooms/')({ component: RoomsPage });

function RoomsPage() {
  const { role } = useWorkspace();
  const [isCreating, setIsCreating] = useState(false);
  const create = isAtLeast(role, 'admin') && (
    <Button tone="primary" icon={<Plus aria-hidden size={18} />} onClick={() => setIsCreating(true)}>
      New room
    </Button>
  );
  return (
    <>
      <PageHeader title="Rooms" text="Where meetings take place" actions={create} />
      <RoomTable />
      <Dialog isOpen={isCreating} onOpenChange={setIsCreating} title="New room">
        <CreateForm />
      </Dialog>
    </>
  );
}

function CreateForm() {
  const { id } = useWorkspace();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const create = useMutation(
    trpc.rooms.create.mutationOptions({
      async onSuccess({ room }) {
        await queryClient.invalidateQueries(trpc.rooms.pathFilter());
        await navigate({
          to: '/w/$workspaceId/rooms/$roomName',
          params: { workspaceId: String(id), roomName: room.name },
        });
      },
    }),
  );
  return (
    <RoomForm
      action="Create"
      error={create.error}
      isPending={create.isPending}
      onSubmit={(values) => create.mutate({ ...values, workspace_id: id })}
    />
  );
}

type Room = Outputs['rooms']['listInWorkspace']['rooms'][number];

function RoomTable() {
  const { id, role } = useWorkspace();
  const rooms = useInfiniteQuery(
    trpc.rooms.listInWorkspace.infiniteQueryOptions(
      { id, limit: PAGE_SIZE },
      { getNextPageParam: (page) => page.next_cursor },
    ),
  );
  if (rooms.isPending) return <SkeletonRows />;
  if (rooms.isError) {
    return <ErrorPanel what="The rooms could not be loaded" error={rooms.error} onRetry={() => rooms.refetch()} />;
  }
  const rows = rooms.data.pages.flatMap((page) => page.rooms);
  if (rows.length === 0) {
    return (
      <EmptyState icon={<DoorOpen aria-hidden size={32} />} title="There are no rooms yet">
        {isAtLeast(role, 'admin') ? 'Create the first with “New room”.' : 'The owner and admins create rooms.'}
      </EmptyState>
    );
  }
  return (
    <>
      <Table
        caption="Rooms"
        rows={rows}
        keyOf={(room) => room.id}
        columns={[
          { heading: 'Room', cell: (room) => <RoomLink room={room} />, className: 'min-w-48' },
          { heading: 'Scheduled', cell: ({ scheduled_at }) => scheduled_at !== null && <Time at={scheduled_at} /> },
          { heading: 'Recordings', cell: ({ recording_count }) => recording_count, isNumber: true },
          { heading: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
          {
            ...{ heading: 'Link', isHeadingHidden: true, className: 'w-14 py-1' },
            cell: ({ name }) => <CopyButton text={toRoomUrl(name)} label={`Copy the link of ${name}`} />,
          },
        ]}
      />
      {rooms.hasNextPage && (
        <p className="mt-4 text-center">
          <Button isPending={rooms.isFetchingNextPage} onClick={() => rooms.fetchNextPage()}>
            Show more
          </Button>
        </p>
      )}
    </>
  );
}

/** Leads hosts to the page of the room, and others into the room. */
function RoomLink({ room }: { room: Room }) {
  const { id, role } = useWorkspace();
  const me = useAccount();
  const title = room.display_name ?? room.name;
  const isHost = room.user_id === me?.id || isAtLeast(role, 'admin');
  return (
    <>
      {isHost ? (
        <Link
          to="/w/$workspaceId/rooms/$roomName"
          params={{ workspaceId: String(id), roomName: room.name }}
          className="link font-medium"
        >
          {title}
        </Link>
      ) : (
        <Link to="/room/$roomName" params={{ roomName: room.name }} className="link font-medium">
          {title}
        </Link>
      )}{' '}
      {room.locked === 1 && <Badge tone="warning">Locked</Badge>}
      {room.display_name !== null && <span className="block text-sm text-muted">{room.name}</span>}
    </>
  );
}
