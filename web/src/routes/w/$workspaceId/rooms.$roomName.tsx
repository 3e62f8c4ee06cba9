/** One room: for its hosts, who is in it and who waits, its settings and recordings; for members, what they can watch. */
import type { Outputs } from '@lynxroom/client';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createFileRoute, useNavigate } from '@tanstack/react-router';
import { Lock, LockOpen, Settings, Trash2, X } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../components/Badge.tsx';
import { Button } from '../../../components/Button.tsx';
import { CopyButton } from '../../../components/CopyButton.tsx';
import { ConfirmDialog, Dialog } from '../../../components/Dialog.tsx';
import { ErrorPanel } from '../../../components/ErrorPanel.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { SkeletonRows } from '../../../components/Skeleton.tsx';
import { client, trpc } from '../../../lib/client.ts';
import { refusalWith } from '../../../lib/errors.ts';
import { toRoomUrl } from '../../../lib/room-url.ts';
import { useAccount } from '../../../lib/session.ts';
import { showSuccess } from '../../../lib/toasts.ts';
import { useHasRole, useWorkspaceId } from '../../../lib/workspace.ts';
import { JoinLink } from './-rooms/JoinLink.tsx';
import { Meetings } from './-rooms/Meetings.tsx';
import { Participants, participantsOptions } from './-rooms/Participants.tsx';
import { Passes, passesOptions } from './-rooms/Passes.tsx';
import { Recordings, recordingsOptions } from './-rooms/Recordings.tsx';
import { RoomForm } from './-rooms/RoomForm.tsx';
import { WatchList } from './-rooms/WatchList.tsx';
import { offerUndo } from './-trash/undo.ts';

export const Route = createFileRoute('/w/$workspaceId/rooms/$roomName')({ component: RoomPage });

type Room = Outputs['rooms']['readInWorkspace']['room'];
type Question = 'delete' | 'close';

function roomOptions(id: number, name: string) {
  return trpc.rooms.readInWorkspace.queryOptions({ id, name });
}

function RoomPage() {
  const { roomName } = Route.useParams();
  const id = useWorkspaceId();
  const me = useAccount();
  const isAdmin = useHasRole('admin');
  const room = useQuery(roomOptions(id, roomName));
  const isHost = isAdmin || (me !== null && room.data?.room.user_id === me.id);
  // Loaded before the page is shown. Otherwise the content below them would move when they appear.
  const enabled = isHost && room.isSuccess;
  const participants = useQuery({ ...participantsOptions(roomName), enabled });
  const recordings = useInfiniteQuery({ ...recordingsOptions(roomName), enabled });
  const passes = useInfiniteQuery({ ...passesOptions(id, roomName), enabled: isAdmin && room.isSuccess });
  const isLoading = (isHost && (participants.isPending || recordings.isPending)) || (isAdmin && passes.isPending);
  if (room.isPending || (isLoading && !room.isError)) return <SkeletonRows />;
  if (room.isError) {
    const isUnknown = refusalWith(room.error, 'NOT_FOUND');
    return (
      <>
        <PageHeader title={roomName} />
        <ErrorPanel
          what={isUnknown ? 'This workspace has no room with this name' : 'The room could not be loaded'}
          error={room.error}
          onRetry={() => room.refetch()}
        />
      </>
    );
  }
  return isHost ? <HostPage room={room.data.room} /> : <MemberPage room={room.data.room} />;
}

/** What members of the workspace do with a room: join it, and watch its recordings. */
function MemberPage({ room: { name, display_name, locked, recordings_visible_to } }: { room: Room }) {
  return (
    <>
      <PageHeader
        title={display_name ?? name}
        text={locked === 1 ? <Badge tone="warning">Locked: nobody new can join</Badge> : undefined}
        actions={
          <>
            <JoinLink roomName={name} />
            <CopyButton text={toRoomUrl(name)} label="Copy the link of the room">
              Copy the link
            </CopyButton>
          </>
        }
      />
      <div className="flex flex-col gap-8">
        <section aria-label="Recordings of the room">
          <h2 className="mb-2 text-lg font-semibold">Recordings</h2>
          {recordings_visible_to === 'members' ? (
            <WatchList roomName={name} />
          ) : (
            <p className="text-muted">Only the hosts can watch the recordings of this room.</p>
          )}
        </section>
        <Meetings roomName={name} />
      </div>
    </>
  );
}

function HostPage({ room }: { room: Room }) {
  const roomName = room.name;
  const [isEditing, setIsEditing] = useState(false);
  const [question, setQuestion] = useState<Question | null>(null);
  const queryClient = useQueryClient();
  const lock = useMutation({
    mutationFn: (isLocked: boolean) => client.rooms[isLocked ? 'lock' : 'unlock'].mutate({ name: roomName }),
    onSuccess: () => queryClient.invalidateQueries(trpc.rooms.pathFilter()),
  });
  const isAdmin = useHasRole('admin');
  const { display_name, name, locked } = room;
  const isLocked = locked === 1;
  return (
    <>
      <PageHeader
        title={display_name ?? name}
        text={isLocked ? <Badge tone="warning">Locked: nobody new can join</Badge> : undefined}
        actions={
          <>
            <JoinLink roomName={name} />
            <CopyButton text={toRoomUrl(name)} label="Copy the link of the room">
              Copy the link
            </CopyButton>
            <Button
              icon={isLocked ? <LockOpen aria-hidden size={16} /> : <Lock aria-hidden size={16} />}
              isPending={lock.isPending}
              onClick={() => lock.mutate(!isLocked)}
            >
              {isLocked ? 'Unlock' : 'Lock'}
            </Button>
            <Button icon={<Settings aria-hidden size={16} />} onClick={() => setIsEditing(true)}>
              Settings
            </Button>
            <Button icon={<X aria-hidden size={16} />} onClick={() => setQuestion('close')}>
              Close the meeting
            </Button>
            <Button icon={<Trash2 aria-hidden size={16} />} onClick={() => setQuestion('delete')}>
              Delete
            </Button>
          </>
        }
      />
      {lock.isError && <ErrorPanel what="The room could not be locked or unlocked" error={lock.error} />}
      <div className="flex flex-col gap-8">
        <Participants roomName={name} />
        <Recordings roomName={name} />
        {isAdmin && <Passes roomName={name} />}
        <Meetings roomName={name} />
      </div>
      {isEditing && (
        <Dialog onClose={() => setIsEditing(false)} title="Settings of the room">
          <EditForm room={room} onDone={() => setIsEditing(false)} />
        </Dialog>
      )}
      {question === 'close' && <CloseDialog roomName={name} onClose={() => setQuestion(null)} />}
      {question === 'delete' && <DeleteDialog roomName={name} onClose={() => setQuestion(null)} />}
    </>
  );
}

function EditForm({ room, onDone }: { room: Room; onDone: () => void }) {
  const queryClient = useQueryClient();
  const update = useMutation(
    trpc.rooms.update.mutationOptions({
      async onSuccess() {
        await queryClient.invalidateQueries(trpc.rooms.pathFilter());
        showSuccess('Saved');
        onDone();
      },
    }),
  );
  return (
    <RoomForm
      room={room}
      action="Save"
      error={update.error}
      isPending={update.isPending}
      onSubmit={(values) => update.mutate({ ...values, name: room.name })}
    />
  );
}

type QuestionDialogProps = { roomName: string; onClose: () => void };

function CloseDialog({ roomName, onClose }: QuestionDialogProps) {
  const queryClient = useQueryClient();
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Close the meeting?"
      text="Everybody leaves, and those who wait are refused. The room stays and can be used again."
      action="Close the meeting"
      onConfirm={async () => {
        await client.rooms.close.mutate({ name: roomName });
        await queryClient.invalidateQueries(trpc.participants.pathFilter());
        showSuccess('The meeting was closed');
      }}
    />
  );
}

/** Moves the room to the trash. A room that cannot be moved there can be deleted for good. */
function DeleteDialog({ roomName, onClose }: QuestionDialogProps) {
  const workspaceId = useWorkspaceId();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [reason, setReason] = useState<string | null>(null);

  async function leave(): Promise<void> {
    await navigate({ to: '/w/$workspaceId/rooms', params: { workspaceId: String(workspaceId) } });
    await queryClient.invalidateQueries(trpc.rooms.listInWorkspace.pathFilter());
  }

  async function move(): Promise<void> {
    try {
      const { entry } = await client.trash.addRoom.mutate({ id: workspaceId, room_name: roomName });
      await leave();
      offerUndo(workspaceId, [entry]);
    } catch (error) {
      if (!refusalWith(error, 'CONFLICT')) throw error;
      setReason(error instanceof Error ? error.message : '');
    }
  }

  async function deleteForGood(): Promise<void> {
    await client.rooms.delete.mutate({ name: roomName });
    await leave();
    showSuccess('The room was deleted');
  }

  if (reason === null)
    return (
      <ConfirmDialog
        onClose={onClose}
        title="Delete this room?"
        text="Everybody in it leaves, and an upcoming booking is cancelled. The room and its recordings can be restored from the trash for 30 days. Who was in its meetings is deleted for good."
        action="Delete"
        closes={false}
        onConfirm={move}
      />
    );
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Delete this room for good?"
      text={`${reason}. It can only be deleted at once, with its recordings, also those in the trash. This cannot be undone.`}
      action="Delete for good"
      closes={false}
      onConfirm={deleteForGood}
    />
  );
}
