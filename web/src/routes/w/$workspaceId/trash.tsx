/** What was deleted in the console: it is restored, or deleted for good. */
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { createFileRoute, Link } from '@tanstack/react-router';
import { DoorOpen, FileText, Film, Trash2, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { Button, buttonClass, IconButton } from '../../../components/Button.tsx';
import { ConfirmDialog } from '../../../components/Dialog.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { InfiniteTable } from '../../../components/Table.tsx';
import { Time } from '../../../components/Time.tsx';
import { client, trpc } from '../../../lib/client.ts';
import { formatBytes } from '../../../lib/format.ts';
import { showError, showSuccess } from '../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../lib/workspace.ts';
import { refreshTrash, type TrashEntry } from './-trash/undo.ts';

const PAGE_SIZE = 50;

const kinds = {
  library_item: { icon: FileText, place: 'in the library', files: 'Its file is deleted too.' },
  recording: { icon: Film, place: 'among the recordings', files: 'Its file is deleted too.' },
  room: { icon: DoorOpen, place: 'among the rooms', files: 'Its recordings are deleted too.' },
} as const;

export const Route = createFileRoute('/w/$workspaceId/trash')({ component: TrashPage });

function TrashPage() {
  const id = useWorkspaceId();
  const [asking, setAsking] = useState<TrashEntry | 'all' | null>(null);
  const list = useInfiniteQuery(
    trpc.trash.list.infiniteQueryOptions(
      { id, limit: PAGE_SIZE },
      { getNextPageParam: (page: { next_cursor?: string }) => page.next_cursor },
    ),
  );
  const restore = useMutation({
    mutationFn: (entry: TrashEntry) => client.trash.restore.mutate({ id, entry_ids: [entry.id] }),
    onSuccess: (_, { name, kind }) => showSuccess(`${name} is back ${kinds[kind].place}`),
    onError: (error) => showError('Could not restore', error),
    onSettled: refreshTrash,
  });
  const hasEntries = list.data?.pages.some(({ entries }) => entries.length > 0) ?? false;
  return (
    <>
      <PageHeader
        title="Trash"
        text="What was deleted stays here for 30 days. Until then it counts for the quotas, and can be restored."
        actions={
          hasEntries && (
            <Button icon={<Trash2 aria-hidden size={18} />} onClick={() => setAsking('all')}>
              Empty the trash
            </Button>
          )
        }
      />
      <InfiniteTable
        list={list}
        rowsOf={(page) => page.entries}
        failure="The trash could not be loaded"
        empty={
          <EmptyState
            icon={<Trash2 aria-hidden size={32} />}
            title="The trash is empty"
            action={
              <Link
                to="/w/$workspaceId/library"
                params={{ workspaceId: String(id) }}
                className={buttonClass('primary')}
              >
                Open the library
              </Link>
            }
          >
            Files that you delete from the library come here, and recordings and rooms.
          </EmptyState>
        }
        caption="Trash"
        keyOf={(entry) => entry.id}
        columns={[
          {
            heading: 'Name',
            className: 'min-w-48',
            cell: ({ kind, name }) => {
              const Icon = kinds[kind].icon;
              return (
                <span className="flex items-center gap-3">
                  <Icon aria-hidden size={20} className="shrink-0 text-muted" />
                  <span className="wrap-anywhere">{name}</span>
                </span>
              );
            },
          },
          { heading: 'Size', isNumber: true, cell: ({ size }) => size > 0 && formatBytes(size) },
          {
            heading: 'Deleted',
            cell: ({ trashed_at, trashed_by_name }) => (
              <>
                <Time at={trashed_at} /> <span className="block text-sm text-muted">by {trashed_by_name}</span>
              </>
            ),
          },
          { heading: 'Deleted for good', cell: ({ expires_at }) => <Time at={expires_at} /> },
          {
            heading: 'Actions',
            isHeadingHidden: true,
            className: 'py-1',
            cell: (entry) => (
              <span className="flex justify-end gap-1">
                <IconButton
                  label={`Restore ${entry.name}`}
                  icon={<Undo2 aria-hidden size={18} />}
                  onClick={() => restore.mutate(entry)}
                />
                <IconButton
                  label={`Delete ${entry.name} for good`}
                  icon={<Trash2 aria-hidden size={18} />}
                  onClick={() => setAsking(entry)}
                />
              </span>
            ),
          },
        ]}
      />
      {asking === 'all' && (
        <ConfirmDialog
          onClose={() => setAsking(null)}
          title="Empty the trash?"
          text="Everything in it is deleted for good, with its files. This cannot be undone."
          action="Empty the trash"
          onConfirm={async () => {
            const { deleted } = await client.trash.empty.mutate({ id });
            showSuccess(deleted === 1 ? '1 entry was deleted for good' : `${deleted} entries were deleted for good`);
            await refreshTrash();
          }}
        />
      )}
      {asking !== null && asking !== 'all' && (
        <ConfirmDialog
          onClose={() => setAsking(null)}
          title={`Delete ${asking.name} for good?`}
          text={`${kinds[asking.kind].files} This cannot be undone.`}
          action="Delete"
          onConfirm={async () => {
            await client.trash.delete.mutate({ id, entryId: asking.id });
            showSuccess(`${asking.name} was deleted for good`);
            await refreshTrash();
          }}
        />
      )}
    </>
  );
}
