/** One room: who is in it and who waits, its settings, and its recordings. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
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
import { showSuccess } from '../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../lib/workspace.ts';
import { Meetings } from './-rooms/Meetings.tsx';
import { Participants, participantsOptions } from './-rooms/Participants.tsx';
import { Recordings } from './-rooms/Recordings.tsx';
import { RoomForm, toRoomUrl } from './-rooms/RoomForm.tsx';

export const Route = createFileRoute('/w/$workspaceId/rooms/$roomName')({ component: RoomPage });

type Question = 'delete' | 'close';

function RoomPage() {
  const { roomName } = Route.useParams();
  const room = useQuery(trpc.rooms.read.queryOptions({ name: roomName }));
  // Loaded together with the room. Otherwise the content below the participants would move when they appear.
  const participants = useQuery(participantsOptions(roomName));
  const [isEditing, setIsEditing] = useState(false);
  const [question, setQuestion] = useState<Question | null>(null);
  const queryClient = useQueryClient();
  const lock = useMutation({
    mutationFn: (isLocked: boolean) => client.rooms[isLocked ? 'lock' : 'unlock'].mutate({ name: roomName }),
    onSuccess: () => queryClient.invalidateQueries(trpc.rooms.pathFilter()),
  });

  if (room.isPending || (participants.isPending && !room.isError)) return <SkeletonRows />;
  if (room.isError) {
    // To those who host no meeting in it, the room does not exist.
    const isHidden = refusalWith(room.error, 'NOT_FOUND');
    return (
      <>
        <PageHeader title={roomName} />
        <ErrorPanel
          what={
            isHidden ? 'Only the host of this room, the owner and admins can open it' : 'The room could not be loaded'
          }
          error={room.error}
          onRetry={() => room.refetch()}
        />
      </>
    );
  }
  const { display_name, name, locked } = room.data.room;
  const isLocked = locked === 1;
  return (
    <>
      <PageHeader
        title={display_name ?? name}
        text={isLocked ? <Badge tone="warning">Locked: nobody new can join</Badge> : undefined}
        actions={
          <>
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
      <Dialog isOpen={isEditing} onOpenChange={setIsEditing} title="Settings of the room">
        <EditForm roomName={name} onDone={() => setIsEditing(false)} />
      </Dialog>
      <QuestionDialog question={question} roomName={name} onClose={() => setQuestion(null)} />
    </>
  );
}

function EditForm({ roomName, onDone }: { roomName: string; onDone: () => void }) {
  const queryClient = useQueryClient();
  const room = useQuery(trpc.rooms.read.queryOptions({ name: roomName }));
  const update = useMutation(
    trpc.rooms.update.mutationOptions({
      async onSuccess() {
        await queryClient.invalidateQueries(trpc.rooms.pathFilter());
        showSuccess('Saved');
        onDone();
      },
    }),
  );
  if (!room.data) return null;
  return (
    <RoomForm
      room={room.data.room}
      action="Save"
      error={update.error}
      isPending={update.isPending}
      onSubmit={(values) => update.mutate({ ...values, name: roomName })}
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
      isOpen
      onOpenChange={onClose}
      title={isDelete ? 'Delete this room?' : 'Close the meeting?'}
      text={
        isDelete
          ? 'Its recordings are deleted too, and everybody in it leaves. This cannot be undone.'
          : 'Everybody leaves, and those who wait are refused. The room stays and can be used again.'
      }
      action={isDelete ? 'Delete' : 'Close the meeting'}
      onConfirm={carryOut}
    />
  );
}
