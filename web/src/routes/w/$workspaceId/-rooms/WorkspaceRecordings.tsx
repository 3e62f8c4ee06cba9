import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { Dialog, DialogActions } from '../../../../components/Dialog.tsx';
import { Form, SelectField } from '../../../../components/Form.tsx';
import { PageHeader } from '../../../../components/PageHeader.tsx';
import { trpc } from '../../../../lib/client.ts';
import { useAccount } from '../../../../lib/session.ts';
import { showSuccess } from '../../../../lib/toasts.ts';
import { useHasRole, useWorkspaceId } from '../../../../lib/workspace.ts';
import { isEmptyRange, noFilters, toInput } from './filters.ts';
import { ListFilters } from './ListFilters.tsx';
import { type Recording, recordingStates } from './recording-states.ts';
import { viewerOptions } from './room-options.ts';
import { WatchList } from './WatchList.tsx';

// `as`: the type of Object.entries has any string as the key.
const statuses = Object.entries(recordingStates) as [Recording['status'], { label: string }][];
const statusOptions = [
  { value: '', label: 'Every status' },
  ...statuses.map(([value, { label }]) => ({ value, label })),
];

/** The page of all recordings of the workspace that the person can watch, with a search. */
export function WorkspaceRecordings() {
  const me = useAccount();
  const mayChange = useHasRole('admin');
  const [filters, setFilters] = useState(noFilters);
  const [isChanging, setIsChanging] = useState(false);
  const status = statuses.find(([value]) => value === filters.status)?.[0];
  const change = (changed: Partial<typeof filters>) => setFilters((before) => ({ ...before, ...changed }));
  return (
    <>
      <PageHeader
        title="Recordings"
        text="What was recorded in the rooms of the workspace"
        actions={mayChange ? <Button onClick={() => setIsChanging(true)}>Who can watch</Button> : undefined}
      />
      <ListFilters label="Search recordings" placeholder="Title or room" filters={filters} onChange={change}>
        <SelectField
          name="status"
          label="Status"
          className="w-40"
          value={filters.status}
          onChange={({ target }) => change({ status: target.value })}
          options={statusOptions}
        />
      </ListFilters>
      <WatchList
        wanted={{ ...toInput(filters, me?.id), ...(status !== undefined && { status }) }}
        isEnabled={!isEmptyRange(filters)}
      />
      {isChanging && (
        <Dialog onClose={() => setIsChanging(false)} title="Who can watch recordings">
          <VisibilityForm onDone={() => setIsChanging(false)} />
        </Dialog>
      )}
    </>
  );
}

/** Changes all rooms at once. */
function VisibilityForm({ onDone }: { onDone: () => void }) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const save = useMutation(
    trpc.rooms.setRecordingsVisibility.mutationOptions({
      async onSuccess({ changed_rooms }) {
        await queryClient.invalidateQueries(trpc.rooms.pathFilter());
        await queryClient.invalidateQueries(trpc.recordings.pathFilter());
        showSuccess(changed_rooms === 1 ? '1 room was changed' : `${changed_rooms} rooms were changed`);
        onDone();
      },
    }),
  );
  return (
    <Form
      error={save.error}
      onSubmit={(values) =>
        save.mutate({
          id,
          recordings_visible_to: values.get('recordings_visible_to') === 'hosts' ? 'hosts' : 'members',
        })
      }
    >
      <SelectField
        name="recordings_visible_to"
        label="The recordings of all rooms"
        hint="Changes every room that there is now. Each room can be changed in its settings afterwards."
        options={viewerOptions}
      />
      <DialogActions>
        <Button type="submit" tone="primary" isPending={save.isPending}>
          Change all rooms
        </Button>
      </DialogActions>
    </Form>
  );
}
