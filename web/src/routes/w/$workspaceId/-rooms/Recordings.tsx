import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Ellipsis, Film, Play } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../../components/Badge.tsx';
import { Button, IconButton } from '../../../../components/Button.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../../../../components/Dialog.tsx';
import { Form, TextField } from '../../../../components/Form.tsx';
import { Menu, MenuItem } from '../../../../components/Menu.tsx';
import { Poster } from '../../../../components/Poster.tsx';
import { InfiniteTable } from '../../../../components/Table.tsx';
import { Time } from '../../../../components/Time.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { LIVE_POLL_MS } from '../../../../lib/live.ts';
import { showError, showSuccess } from '../../../../lib/toasts.ts';
import { PlayDialog } from './PlayDialog.tsx';
import { type Recording, toState, toTitle } from './recording-states.ts';

type Question = { kind: 'play' | 'rename' | 'delete'; recording: Recording };

const PAGE_SIZE = 20;

export function recordingsOptions(roomName: string) {
  return trpc.recordings.listInRoom.infiniteQueryOptions(
    { name: roomName, limit: PAGE_SIZE },
    { getNextPageParam: (page) => page.next_cursor },
  );
}

/** The recordings of a room: play, stop, retry, rename, save to the library, delete. */
export function Recordings({ roomName }: { roomName: string }) {
  const queryClient = useQueryClient();
  const [question, setQuestion] = useState<Question | null>(null);
  const list = useInfiniteQuery({ ...recordingsOptions(roomName), refetchInterval: LIVE_POLL_MS });
  const refresh = () => queryClient.invalidateQueries(trpc.recordings.pathFilter());

  async function stop({ id }: Recording): Promise<void> {
    try {
      await client.recordings.stop.mutate({ name: roomName, recordingId: id });
      await refresh();
    } catch (error) {
      showError('Could not stop the recording', error);
    }
  }

  async function retryCopy({ id }: Recording): Promise<void> {
    try {
      await client.recordings.retryCopy.mutate({ recordingId: id });
      await refresh();
    } catch (error) {
      showError('Could not retry the copy', error);
    }
  }

  async function save(recording: Recording): Promise<void> {
    try {
      await client.recordings.saveToLibrary.mutate({ recordingId: recording.id });
      showSuccess('The recording is in the library');
    } catch (error) {
      showError('Could not save the recording', error);
    }
  }

  return (
    <section aria-label="Recordings of the room">
      <h2 className="mb-2 text-lg font-semibold">Recordings</h2>
      <InfiniteTable
        list={list}
        rowsOf={(page) => page.recordings}
        failure="The recordings could not be loaded"
        empty={<p className="text-muted">This room has no recordings.</p>}
        skeletonRows={2}
        caption="Recordings"
        keyOf={({ id }) => id}
        columns={[
          {
            heading: 'Title',
            className: 'min-w-56',
            cell: (recording) => (
              <div className="flex items-center gap-3">
                <Poster url={recording.poster_url} icon={<Film aria-hidden size={20} />} className="h-10 w-16" />
                <span className="min-w-0">{toTitle(recording)}</span>
              </div>
            ),
          },
          {
            heading: 'Status',
            cell: (recording) => {
              const { label, tone } = toState(recording);
              const reason = recording.copy_error ?? recording.failure_reason;
              return (
                <>
                  <Badge tone={tone}>{label}</Badge>
                  {reason !== null && <p className="mt-1 text-sm text-muted">{reason}</p>}
                </>
              );
            },
          },
          { heading: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            heading: 'Actions',
            isHeadingHidden: true,
            className: 'w-28 py-1',
            cell: (recording) => (
              <div className="flex justify-end">
                {recording.status === 'available' && (
                  <IconButton
                    label="Play"
                    icon={<Play aria-hidden size={16} />}
                    onClick={() => setQuestion({ kind: 'play', recording })}
                  />
                )}
                <Menu trigger={<IconButton label="Actions" icon={<Ellipsis aria-hidden size={18} />} />}>
                  {recording.status === 'started' && recording.ended_at === null && (
                    <MenuItem onSelect={() => void stop(recording)}>Stop</MenuItem>
                  )}
                  {(recording.status === 'uploaded' || recording.status === 'failed') && (
                    <MenuItem onSelect={() => void retryCopy(recording)}>Retry the copy</MenuItem>
                  )}
                  <MenuItem onSelect={() => setQuestion({ kind: 'rename', recording })}>Rename</MenuItem>
                  {recording.status === 'available' && (
                    <MenuItem onSelect={() => void save(recording)}>Save to the library</MenuItem>
                  )}
                  <MenuItem isDanger onSelect={() => setQuestion({ kind: 'delete', recording })}>
                    Delete
                  </MenuItem>
                </Menu>
              </div>
            ),
          },
        ]}
      />
      {question?.kind === 'delete' && (
        <ConfirmDialog
          onClose={() => setQuestion(null)}
          title="Delete this recording?"
          text="Its file is deleted too. This cannot be undone."
          action="Delete"
          onConfirm={async () => {
            await client.recordings.delete.mutate({ recordingId: question.recording.id });
            await refresh();
          }}
        />
      )}
      {question?.kind === 'play' && (
        <PlayDialog
          recording={question.recording}
          src={`/api/dashboard/recordings/${question.recording.id}/download`}
          onClose={() => setQuestion(null)}
        />
      )}
      {question?.kind === 'rename' && (
        <RenameDialog recording={question.recording} onClose={() => setQuestion(null)} onDone={refresh} />
      )}
    </section>
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
