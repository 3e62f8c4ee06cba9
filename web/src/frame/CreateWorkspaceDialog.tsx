import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Button } from '../components/Button.tsx';
import { Dialog, DialogActions } from '../components/Dialog.tsx';
import { Form, TextField } from '../components/Form.tsx';
import { trpc } from '../lib/client.ts';
import { FIRST_PAGE } from '../lib/first-page.ts';
import { workspaces } from '../lib/workspace.ts';
import { JoinableWorkspaces } from './JoinableWorkspaces.tsx';

export function CreateWorkspaceDialog({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation(
    trpc.workspaces.create.mutationOptions({
      async onSuccess({ workspace }) {
        await queryClient.invalidateQueries(workspaces);
        await navigate({ to: FIRST_PAGE, params: { workspaceId: String(workspace.id) } });
        // After the page has changed, so that its content gets the focus.
        onClose();
      },
    }),
  );

  return (
    <Dialog onClose={onClose} title="New workspace">
      <Form onSubmit={(values) => create.mutate({ name: String(values.get('name')) })} error={create.error}>
        <TextField name="name" label="Name" hint="For example the name of your team" required maxLength={100} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" isPending={create.isPending}>
            Create
          </Button>
        </DialogActions>
      </Form>
      <JoinableWorkspaces onJoined={onClose} />
    </Dialog>
  );
}
