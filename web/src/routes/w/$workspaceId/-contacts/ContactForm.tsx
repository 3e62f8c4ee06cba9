import type { Outputs } from '@lynxroom/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Button } from '../../../../components/Button.tsx';
import { DialogActions } from '../../../../components/Dialog.tsx';
import { Form, TextField } from '../../../../components/Form.tsx';
import { UnsavedChanges } from '../../../../components/UnsavedChanges.tsx';
import { trpc } from '../../../../lib/client.ts';
import { showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';

type Contact = Outputs['contacts']['update']['contact'];
type Values = { name: string; email: string };

/** Creates a contact, and opens it. */
export function CreateContactForm({ onDone }: { onDone: () => void }) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation(
    trpc.contacts.create.mutationOptions({
      async onSuccess({ contact }) {
        showSuccess(`${contact.name} was added`);
        await Promise.all([
          queryClient.invalidateQueries(trpc.contacts.pathFilter()),
          navigate({
            to: '/w/$workspaceId/contacts/$contactId',
            params: { workspaceId: String(id), contactId: String(contact.id) },
          }),
        ]);
        onDone();
      },
    }),
  );
  return (
    <ContactFields
      action="Create"
      error={create.error}
      isPending={create.isPending}
      onSubmit={(values) => create.mutate({ id, ...values })}
    />
  );
}

export function EditContactForm({ contact, onDone }: { contact: Contact; onDone: () => void }) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const update = useMutation(
    trpc.contacts.update.mutationOptions({
      async onSuccess() {
        await queryClient.invalidateQueries(trpc.contacts.pathFilter());
        showSuccess('Saved');
        onDone();
      },
    }),
  );
  return (
    <ContactFields
      contact={contact}
      action="Save"
      error={update.error}
      isPending={update.isPending}
      onSubmit={(values) => update.mutate({ id, contactId: contact.id, ...values })}
    />
  );
}

type ContactFieldsProps = {
  contact?: Contact;
  action: string;
  error: unknown;
  isPending: boolean;
  onSubmit: (values: Values) => void;
};

function ContactFields({ contact, action, error, isPending, onSubmit }: ContactFieldsProps) {
  return (
    <Form
      error={error}
      onSubmit={(values) => onSubmit({ name: String(values.get('name')), email: String(values.get('email')) })}
    >
      <UnsavedChanges save={{ isPending }} />
      <TextField name="name" label="Name" required maxLength={100} autoComplete="off" defaultValue={contact?.name} />
      <TextField name="email" label="Email" type="email" required autoComplete="off" defaultValue={contact?.email} />
      <DialogActions>
        <Button type="submit" tone="primary" isPending={isPending}>
          {action}
        </Button>
      </DialogActions>
    </Form>
  );
}
