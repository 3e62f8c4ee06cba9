import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Video } from 'lucide-react';
import { Button } from '../../../../components/Button.tsx';
import { CopyButton } from '../../../../components/CopyButton.tsx';
import { client } from '../../../../lib/client.ts';
import { toRoomUrl } from '../../../../lib/room-url.ts';
import { useAccount } from '../../../../lib/session.ts';
import { showError } from '../../../../lib/toasts.ts';
import { useHasRole, useWorkspaceId } from '../../../../lib/workspace.ts';
import { JoinLink } from '../-rooms/JoinLink.tsx';
import { Card } from './Card.tsx';
import { roomsOptions } from './queries.ts';

/** A longer name leaves no place for the rest of the title. */
const MAX_NAME = 90;

/** Meets at once: in the newest room of the person, or in one that is made for it, or in another one. */
export function MeetNow() {
  const id = useWorkspaceId();
  const mayCreate = useHasRole('admin');
  const rooms = useQuery(roomsOptions(id));
  return (
    <Card
      title="Meet now"
      actions={mayCreate && <StartButton />}
      list={rooms}
      rowsOf={(page) => page.rooms}
      failure="The rooms could not be loaded"
      keyOf={({ id }) => id}
      empty={
        mayCreate
          ? 'Start a meeting, and send its link to whom you want to meet: nobody needs an account for it.'
          : 'There is no room yet. The owner and admins create rooms.'
      }
    >
      {({ name, display_name }) => (
        <>
          <Link
            to="/w/$workspaceId/rooms/$roomName"
            params={{ workspaceId: String(id), roomName: name }}
            className="link min-w-0 font-medium wrap-anywhere"
          >
            {display_name ?? name}
          </Link>
          <span className="flex items-center gap-1">
            <JoinLink roomName={name} title={display_name ?? name} />
            <CopyButton text={toRoomUrl(name)} label={`Copy the link of ${name}`} />
          </span>
        </>
      )}
    </Card>
  );
}

function StartButton() {
  const id = useWorkspaceId();
  const me = useAccount();
  const start = useMutation({
    async mutationFn() {
      if (me === null) throw new Error('Sign in again');
      const { rooms } = await client.rooms.listInWorkspace.query({ id, booked: 0, user_id: me.id, limit: 1 });
      const [room] = rooms;
      if (room !== undefined) return room.name;
      const created = await client.rooms.create.mutate({
        workspace_id: id,
        display_name: me.name.length > MAX_NAME ? 'My room' : `${me.name}'s room`,
        // As the form for a new room suggests.
        waiting_room_enabled: 1,
      });
      return created.room.name;
    },
    // A load of the document, because the page of a meeting has headers of its own.
    onSuccess: (name) => location.assign(`/room/${name}`),
    onError: (error) => showError('Could not start a meeting', error),
  });
  return (
    <Button
      tone="primary"
      icon={<Video aria-hidden size={18} />}
      isPending={start.isPending || start.isSuccess}
      onClick={() => start.mutate()}
    >
      Start a meeting
    </Button>
  );
}
