/** The rooms of the workspace. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { createFileRoute, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from '../../../components/Button.tsx';
import { Dialog } from '../../../components/Dialog.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { trpc } from '../../../lib/client.ts';
import { CREATE_KEY } from '../../../lib/single-keys.ts';
import { useHasRole, useWorkspace } from '../../../lib/workspace.ts';
import { RoomForm } from './-rooms/RoomForm.tsx';
import { RoomTable } from './-rooms/RoomTable.tsx';

export const Route = createFileRoute('/w/$workspaceId/rooms/')({
  validateSearch: ({ dialog }: Record<string, unknown>): { dialog?: 'new' } => (dialog === 'new' ? { dialog } : {}),
  component: RoomsPage,
});

function RoomsPage() {
  const mayWrite = useHasRole('admin');
  const { dialog } = Route.useSearch();
  const navigate = Route.useNavigate();
  const [isCreating, setIsCreating] = useState(false);
  // Links open the dialog once: the way back from the new room leads to the list.
  useEffect(() => {
    if (dialog === undefined) return;
    setIsCreating(true);
    void navigate({ search: {}, replace: true });
  }, [dialog, navigate]);
  const create = mayWrite && (
    <Button
      tone="primary"
      icon={<Plus aria-hidden size={18} />}
      aria-keyshortcuts={CREATE_KEY}
      onClick={() => setIsCreating(true)}
    >
      New room
    </Button>
  );
  return (
    <>
      <PageHeader title="Rooms" text="Where meetings take place" actions={create} />
      <RoomTable onCreate={mayWrite ? () => setIsCreating(true) : undefined} />
      {mayWrite && isCreating && (
        <Dialog onClose={() => setIsCreating(false)} title="New room">
          <CreateForm />
        </Dialog>
      )}
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
