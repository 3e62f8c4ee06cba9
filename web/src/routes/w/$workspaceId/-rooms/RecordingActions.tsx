/** What a host does with a recording: stop, retry, rename, save to the library, delete. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../../../components/Button.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../../../../components/Dialog.tsx';
import { Form, TextField } from '../../../../components/Form.tsx';
import { Menu, MenuItem } from '../../../../components/Menu.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { showError, showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { offerUndo } from '../-trash/undo.ts';
import type { Recording } from './recording-states.ts';

type RecordingActionsProps = {
  recording: Recording;
  /** Called once it is deleted. */
  onDeleted?: () => Promise<unknown>;
};

export function RecordingActions({ recording, onDeleted }: RecordingActionsProps) {
  const queryClient = useQueryClient();
  const [question, setQuestion] = useState<'rename' | 'delete' | null>(null);
  const workspaceId = useWorkspaceId();
  const { id, room_name, status, ended_at } = recording;
  // What is not finished cannot be restored, so it is deleted for good.
  const isFinished = status === 'available' || status === 'failed';
  const refresh = () => queryClient.invalidateQueries(trpc.recordings.pathFilter());

  async function attempt(call: () => Promise<unknown>, failure: string): Promise<void> {
    try {
      await call();
      await refresh();
    } catch (error) {
      showError(failure, error);
    }
  }

  const stop = () => client.recordings.stop.mutate({ name: room_name, recordingId: id });
  const retryCopy = () => client.recordings.retryCopy.mutate({ recordingId: id });

  async function save(): Promise<void> {
    await client.recordings.saveToLibrary.mutate({ recordingId: id });
    showSuccess('The recording is in the library');
  }

  async function moveToTrash(): Promise<void> {
    const { entries } = await client.trash.addRecordings.mutate({ id: workspaceId, recording_ids: [id] });
    await onDeleted?.();
    offerUndo(workspaceId, entries);
  }

  return (
    <>
      <Menu trigger={<IconButton label="Actions" icon={<Ellipsis aria-hidden size={18} />} />}>
        {status === 'started' && ended_at === null && (
          <MenuItem onSelect={() => void attempt(stop, 'Could not stop the recording')}>Stop</MenuItem>
        )}
        {(status === 'uploaded' || status === 'failed') && (
          <MenuItem onSelect={() => void attempt(retryCopy, 'Could not retry the copy')}>Retry the copy</MenuItem>
        )}
        <MenuItem onSelect={() => setQuestion('rename')}>Rename</MenuItem>
        {status === 'available' && (
          <MenuItem onSelect={() => void attempt(save, 'Could not save the recording')}>Save to the library</MenuItem>
        )}
        <MenuItem
          isDanger
          onSelect={() =>
            isFinished ? void attempt(moveToTrash, 'Could not delete the recording') : setQuestion('delete')
          }
        >
          Delete
        </MenuItem>
      </Menu>
      {question === 'delete' && (
        <ConfirmDialog
          onClose={() => setQuestion(null)}
          title="Delete this recording?"
          text="Its file is deleted too. This cannot be undone."
          action="Delete"
          onConfirm={async () => {
            await client.recordings.delete.mutate({ recordingId: id });
            await onDeleted?.();
            await refresh();
            showSuccess('The recording was deleted');
          }}
        />
      )}
      {question === 'rename' && (
        <RenameDialog recording={recording} onClose={() => setQuestion(null)} onDone={refresh} />
      )}
    </>
  );
}

function RenameDialog({
  recording,
  onClose,
  onDone,
}: {
  recording: Recording;
  onClose: () => void;
  onDone: () => Promise<void>;
}) {
  const rename = useMutation(
    trpc.recordings.rename.mutationOptions({
      async onSuccess() {
        await onDone();
        onClose();
      },
    }),
  );

  function submit(values: FormData): void {
    rename.mutate({ recordingId: recording.id, title: String(values.get('title')) });
  }

  return (
    <Dialog onClose={onClose} title="Rename the recording">
      <Form onSubmit={submit} error={rename.error}>
        <TextField name="title" label="Title" defaultValue={recording.title ?? ''} />
        <DialogActions>
          <Button type="submit" tone="primary" isPending={rename.isPending}>
            Save
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
