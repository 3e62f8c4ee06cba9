import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Button } from '../components/Button.tsx';
import { Dialog, DialogActions } from '../components/Dialog.tsx';
import { Form, TextField } from '../components/Form.tsx';
import { trpc } from '../lib/client.ts';
import { FIRST_PAGE } from '../lib/first-page.ts';
import { workspaces } from '../lib/workspace.ts';

type Props = { isOpen: boolean; onOpenChange: (isOpen: boolean) => void };

export function CreateWorkspaceDialog({ isOpen, onOpenChange }: Props) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation(
    trpc.workspaces.create.mutationOptions({
      async onSuccess({ workspace }) {
        await queryClient.invalidateQueries(workspaces);
        onOpenChange(false);
        await navigate({ to: FIRST_PAGE, params: { workspaceId: String(workspace.id) } });
      },
    }),
  );

  function change(open: boolean): void {
    create.reset();
    onOpenChange(open);
  }

  return (
    <Dialog isOpen={isOpen} onOpenChange={change} title="New workspace">
      <Form onSubmit={(values) => create.mutate({ name: String(values.get('name')) })} error={create.error}>
        <TextField name="name" label="Name" hint="For example the name of your team" required maxLength={100} />
        <DialogActions>
          <Button onClick={() => change(false)}>Cancel</Button>
          <Button type="submit" tone="primary" isPending={create.isPending}>
            Create
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
