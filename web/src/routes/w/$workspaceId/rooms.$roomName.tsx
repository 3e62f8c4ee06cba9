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
import { Recordings, recordingsOptions } from './-rooms/Recordings.tsx';
import { RoomForm } from './-rooms/RoomForm.tsx';
import { WatchList } from './-rooms/WatchList.tsx';

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
  const isLoading = isHost && (participants.isPending || recordings.isPending);
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
        <Meetings roomName={name} />
      </div>
      {isEditing && (
        <Dialog onClose={() => setIsEditing(false)} title="Settings of the room">
          <EditForm room={room} onDone={() => setIsEditing(false)} />
        </Dialog>
      )}
      <QuestionDialog question={question} roomName={name} onClose={() => setQuestion(null)} />
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

type QuestionDialogProps = { question: Question | null; roomName: string; onClose: () => void };

function QuestionDialog({ question, roomName, onClose }: QuestionDialogProps) {
  const workspaceId = useWorkspaceId();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  if (question === null) return null;
  const isDelete = question === 'delete';

  async function carryOut(): Promise<void> {
    if (isDelete) {
      await client.rooms.delete.mutate({ name: roomName });
      await navigate({ to: '/w/$workspaceId/rooms', params: { workspaceId: String(workspaceId) } });
      await queryClient.invalidateQueries(trpc.rooms.listInWorkspace.pathFilter());
    } else {
      await client.rooms.close.mutate({ name: roomName });
      await queryClient.invalidateQueries(trpc.participants.pathFilter());
    }
    showSuccess(isDelete ? 'The room was deleted' : 'The meeting was closed');
  }

  return (
    <ConfirmDialog
      onClose={onClose}
      title={isDelete ? 'Delete this room?' : 'Close the meeting?'}
      text={
        isDelete
          ? 'Its recordings are deleted too, also those in the trash, and everybody in it leaves. This cannot be undone.'
          : 'Everybody leaves, and those who wait are refused. The room stays and can be used again.'
      }
      action={isDelete ? 'Delete' : 'Close the meeting'}
      onConfirm={carryOut}
    />
  );
}
