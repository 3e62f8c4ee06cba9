import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Button } from '../../../../components/Button.tsx';
import { DialogActions } from '../../../../components/Dialog.tsx';
import { Form, TextField } from '../../../../components/Form.tsx';
import { trpc } from '../../../../lib/client.ts';
import { viewerZone } from '../../../../lib/format.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { officeHours } from './hours.ts';

/** Creates a page with office hours in the viewer's zone, and opens it for the other settings. */
export function CreatePageForm() {
  const id = useWorkspaceId();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const create = useMutation(
    trpc.bookingPages.create.mutationOptions({
      async onSuccess({ bookingPage }) {
        await queryClient.invalidateQueries(trpc.bookingPages.pathFilter());
        await navigate({
          to: '/w/$workspaceId/booking-pages/$pageId',
          params: { workspaceId: String(id), pageId: String(bookingPage.id) },
        });
      },
    }),
  );

  function submit(values: FormData): void {
    const slug = String(values.get('slug')).trim();
    create.mutate({
      id,
      title: String(values.get('title')),
      ...(slug !== '' && { slug }),
      duration_minutes: Number(values.get('duration_minutes')),
      time_zone: viewerZone,
      hours: officeHours,
    });
  }

  return (
    <Form onSubmit={submit} error={create.error}>
      <TextField name="title" label="Title" hint="What guests book, such as “Intro call”" required maxLength={100} />
      <TextField
        name="slug"
        label="Name in the link"
        maxLength={64}
        hint="Lower-case letters, digits and hyphens. Leave it empty to derive it from the title."
      />
      <TextField
        name="duration_minutes"
        label="Length in minutes"
        type="number"
        required
        min={5}
        max={480}
        defaultValue={30}
      />
      <p className="text-sm text-muted">
        It is open from Monday to Friday, 09:00 to 17:00 ({viewerZone}). You can change this afterwards.
      </p>
      <DialogActions>
        <Button type="submit" tone="primary" isPending={create.isPending}>
          Create
        </Button>
      </DialogActions>
    </Form>
  );
}
