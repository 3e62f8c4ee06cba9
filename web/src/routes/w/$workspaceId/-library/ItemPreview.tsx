import type { LibraryItem } from '@lynxroom/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Download, FileText } from 'lucide-react';
import { Button } from '../../../../components/Button.tsx';
import { ErrorPanel } from '../../../../components/ErrorPanel.tsx';
import { Poster } from '../../../../components/Poster.tsx';
import { Skeleton } from '../../../../components/Skeleton.tsx';
import { Time } from '../../../../components/Time.tsx';
import { VideoPlayer } from '../../../../components/VideoPlayer.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { isEmbedded } from '../../../../lib/embedded.ts';
import { formatBytes, formatDuration } from '../../../../lib/format.ts';
import { saveUrl } from '../../../../lib/save-file.ts';
import { showError } from '../../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';

/** A download URL is valid for 15 minutes. */
const URL_FRESH_MS = 10 * 60_000;

/** A frame is as high as its content, so nothing in it can be as high as a part of the frame. */
const HEIGHT = isEmbedded ? 'h-[28rem]' : 'h-[50dvh]';

/** The file of an item, as far as the browser can show it, and a button that saves it. */
export function ItemPreview({ item }: { item: LibraryItem }) {
  return (
    <div className="flex flex-col gap-2">
      {item.mime_type === 'video/mp4' && (isEmbedded ? <EmbeddedVideo item={item} /> : <ItemVideo item={item} />)}
      {item.mime_type === 'application/pdf' && <PdfPreview item={item} />}
      <p className="flex">
        <DownloadButton item={item} />
      </p>
    </div>
  );
}

function ItemVideo({ item }: { item: LibraryItem }) {
  const id = useWorkspaceId();
  return (
    <VideoPlayer
      src={`/api/workspaces/${id}/library/${item.id}/file`}
      posterUrl={item.poster_url}
      label={`Video ${item.name}`}
      className={`${HEIGHT} w-full rounded-lg bg-black`}
    />
  );
}

/** A frame has no cookie, so the address of the file cannot be asked for a URL. */
function EmbeddedVideo({ item }: { item: LibraryItem }) {
  const id = useWorkspaceId();
  const url = useInlineUrl(item);
  if (url.isError)
    return <ErrorPanel what="The file could not be loaded" error={url.error} onRetry={() => url.refetch()} />;
  if (!url.isSuccess) return <Skeleton className={`${HEIGHT} w-full`} />;
  return (
    <VideoPlayer
      src={url.data.url}
      renewSrc={async () => (await client.library.download.query(toInline(id, item))).url}
      posterUrl={null}
      label={`Video ${item.name}`}
      className={`${HEIGHT} w-full rounded-lg bg-black`}
    />
  );
}

/** A URL with which the browser shows the file. */
function useInlineUrl(item: LibraryItem) {
  const id = useWorkspaceId();
  return useQuery({
    ...trpc.library.download.queryOptions(toInline(id, item)),
    staleTime: URL_FRESH_MS,
    // A new URL would begin at the first page, or at the first picture, again.
    refetchOnWindowFocus: false,
  });
}

function toInline(id: number, item: LibraryItem) {
  return { id, itemId: item.id, disposition: 'inline' } as const;
}

/** Browsers without a viewer, such as those of phones, show the top of the first page. */
function PdfPreview({ item }: { item: LibraryItem }) {
  if (navigator.pdfViewerEnabled) return <PdfFrame item={item} />;
  if (!item.poster_url) return null;
  return <Poster url={item.poster_url} icon={<FileText aria-hidden size={32} />} className={`${HEIGHT} w-full`} />;
}

/** A link to the file would leave the page for an error as JSON, for example after the session has ended. */
function DownloadButton({ item }: { item: LibraryItem }) {
  const id = useWorkspaceId();
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
  const url = useInlineUrl(item);
  if (url.isError)
    return <ErrorPanel what="The file could not be loaded" error={url.error} onRetry={() => url.refetch()} />;
  if (!url.isSuccess) return <Skeleton className={`${HEIGHT} w-full`} />;
  return (
    <iframe
      src={`${url.data.url}#navpanes=0&view=FitH`}
      title={`PDF ${item.name}`}
      className={`${HEIGHT} w-full rounded-lg border border-line`}
    />
  );
}

export function ItemDetails({ item }: { item: LibraryItem }) {
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
