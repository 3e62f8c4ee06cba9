import type { LibraryItem } from '@lynxroom/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Download, FileText, Tag, Trash2 } from 'lucide-react';
import { Button } from '../../../../components/Button.tsx';
import { Dialog, DialogActions } from '../../../../components/Dialog.tsx';
import { ErrorPanel } from '../../../../components/ErrorPanel.tsx';
import { Form, TextAreaField, TextField } from '../../../../components/Form.tsx';
import { Menu, MenuItem } from '../../../../components/Menu.tsx';
import { Poster } from '../../../../components/Poster.tsx';
import { Skeleton, SkeletonRows } from '../../../../components/Skeleton.tsx';
import { Time } from '../../../../components/Time.tsx';
import { UnsavedChanges } from '../../../../components/UnsavedChanges.tsx';
import { VideoPlayer } from '../../../../components/VideoPlayer.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { formatBytes, formatDuration } from '../../../../lib/format.ts';
import { saveUrl } from '../../../../lib/save-file.ts';
import { showError, showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspace } from '../../../../lib/workspace.ts';
import { useDeleteItems, useSetLabel, useUpdateItem } from './items.ts';
import { LabelTag, NoLabels } from './LabelTag.tsx';
import { labelsOptions } from './labels.ts';

/** A download URL is valid for 15 minutes. */
const URL_FRESH_MS = 10 * 60_000;

/** One item: its file, its name and description, and its labels. */
export function ItemPanel({ itemId, onClose }: { itemId: number; onClose: () => void }) {
  const { id } = useWorkspace();
  const item = useQuery(trpc.library.read.queryOptions({ id, itemId }));
  return (
    <Dialog isWide onClose={onClose} title={item.data?.item.name ?? 'Item'}>
      {item.isPending && <SkeletonRows count={3} />}
      {item.isError && (
        <ErrorPanel what="The item could not be loaded" error={item.error} onRetry={() => item.refetch()} />
      )}
      {item.isSuccess && (
        <>
          <Preview item={item.data.item} />
          <Details item={item.data.item} />
          <Labels item={item.data.item} />
          <EditForm item={item.data.item} onClose={onClose} />
        </>
      )}
    </Dialog>
  );
}

function Preview({ item }: { item: LibraryItem }) {
  const { id } = useWorkspace();
  const file = `/api/workspaces/${id}/library/${item.id}/file`;
  return (
    <div className="flex flex-col gap-2">
      {item.mime_type === 'video/mp4' && (
        <VideoPlayer
          src={file}
          posterUrl={item.poster_url}
          label={`Video ${item.name}`}
          className="h-[50dvh] w-full rounded-lg bg-black"
        />
      )}
      {item.mime_type === 'application/pdf' && <PdfPreview item={item} />}
      <p className="flex">
        <DownloadButton item={item} />
      </p>
    </div>
  );
}

/** Browsers without a viewer, such as those of phones, show the top of the first page. */
function PdfPreview({ item }: { item: LibraryItem }) {
  if (navigator.pdfViewerEnabled) return <PdfFrame item={item} />;
  if (!item.poster_url) return null;
  return <Poster url={item.poster_url} icon={<FileText aria-hidden size={32} />} className="h-[50dvh] w-full" />;
}

/** A link to the file would leave the page for an error as JSON, for example after the session has ended. */
function DownloadButton({ item }: { item: LibraryItem }) {
  const { id } = useWorkspace();
  const download = useMutation({
    mutationFn: () => client.library.download.query({ id, itemId: item.id }),
    onSuccess: ({ url }) => saveUrl(url),
    onError: (error) => showError('Could not download the file', error),
  });
  return (
    <Button
      size="small"
      icon={<Download aria-hidden size={16} />}
      isPending={download.isPending}
      onClick={() => download.mutate()}
    >
      Download
    </Button>
  );
}

/** The file is sent with a policy that puts it into a sandbox. The attribute would keep browsers from displaying it. */
function PdfFrame({ item }: { item: LibraryItem }) {
  const { id } = useWorkspace();
  const url = useQuery({
    ...trpc.library.download.queryOptions({ id, itemId: item.id, disposition: 'inline' }),
    staleTime: URL_FRESH_MS,
    // A new URL would begin at the first page again.
    refetchOnWindowFocus: false,
  });
  if (url.isError)
    return <ErrorPanel what="The file could not be loaded" error={url.error} onRetry={() => url.refetch()} />;
  if (!url.isSuccess) return <Skeleton className="h-[50dvh] w-full" />;
  return (
    <iframe
      src={`${url.data.url}#navpanes=0&view=FitH`}
      title={`PDF ${item.name}`}
      className="h-[50dvh] w-full rounded-lg border border-line"
    />
  );
}

function Details({ item }: { item: LibraryItem }) {
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
      <dt className="text-muted">Uploaded</dt>
      <dd>
        <Time at={item.created_at} /> by {item.uploaded_by_name}
      </dd>
      <dt className="text-muted">Size</dt>
      <dd>
        {formatBytes(item.size)}
        {item.duration !== null && `, ${formatDuration(item.duration)}`}
      </dd>
    </dl>
  );
}

function Labels({ item }: { item: LibraryItem }) {
  const { id } = useWorkspace();
  const labels = useQuery(labelsOptions(id));
  const setLabel = useSetLabel(id);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      {item.labels.map((label) => (
        <LabelTag key={label.id} {...label} />
      ))}
      <Menu
        align="start"
        trigger={
          <Button size="small" icon={<Tag aria-hidden size={16} />}>
            Change labels
          </Button>
        }
      >
        {labels.data?.map((label) => {
          const isSet = item.labels.some((one) => one.id === label.id);
          return (
            <MenuItem key={label.id} onSelect={() => setLabel.mutate({ itemIds: [item.id], label, isSet: !isSet })}>
              <LabelTag {...label} />
              {isSet && <span className="text-sm text-muted">remove</span>}
            </MenuItem>
          );
        })}
        {labels.data?.length === 0 && <NoLabels />}
      </Menu>
    </div>
  );
}

function EditForm({ item, onClose }: { item: LibraryItem; onClose: () => void }) {
  const { id } = useWorkspace();
  const update = useUpdateItem(id);
  const deleteItems = useDeleteItems(id);

  function save(values: FormData): void {
    const [name, description] = [values.get('name'), values.get('description')].map(String);
    update.mutate({ itemId: item.id, name, description }, { onSuccess: () => showSuccess('Saved') });
  }

  return (
    <Form onSubmit={save} error={update.error}>
      <UnsavedChanges save={update} />
      <TextField name="name" label="Name" defaultValue={item.name} maxLength={255} required />
      <TextAreaField name="description" label="Description" defaultValue={item.description} maxLength={5000} />
      <DialogActions>
        <Button
          icon={<Trash2 aria-hidden size={16} />}
          onClick={() => {
            deleteItems.mutate([item.id]);
            onClose();
          }}
        >
          Delete
        </Button>
        <Button tone="primary" type="submit" isPending={update.isPending}>
          Save
        </Button>
      </DialogActions>
    </Form>
  );
}
