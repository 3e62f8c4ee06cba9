/** One recording: the player, what is known about it, and the recordings before and after it. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { createFileRoute, Link, notFound, useNavigate } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight, Download } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { Badge } from '../../../components/Badge.tsx';
import { buttonClass } from '../../../components/Button.tsx';
import { CopyButton } from '../../../components/CopyButton.tsx';
import { ErrorPanel } from '../../../components/ErrorPanel.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { SkeletonRows } from '../../../components/Skeleton.tsx';
import { Time } from '../../../components/Time.tsx';
import { VideoPlayer } from '../../../components/VideoPlayer.tsx';
import { trpc } from '../../../lib/client.ts';
import { refusalWith } from '../../../lib/errors.ts';
import { formatBytes, formatDuration } from '../../../lib/format.ts';
import { LIVE_POLL_MS } from '../../../lib/live.ts';
import { useHasRole, useWorkspaceId } from '../../../lib/workspace.ts';
import { RecordingActions } from './-rooms/RecordingActions.tsx';
import { type Recording, toState, toTitle } from './-rooms/recording-states.ts';

/** In how many of the newest recordings the page looks for those before and after this one. */
const PAGE_SIZE = 100;
const MAX_PAGES = 5;

export const Route = createFileRoute('/w/$workspaceId/recordings/$recordingId')({
  loader({ params: { recordingId } }) {
    if (!/^[1-9]\d{0,9}$/.test(recordingId)) throw notFound();
  },
  component: RecordingPage,
});

function RecordingPage() {
  const id = useWorkspaceId();
  const { recordingId } = Route.useParams();
  const recording = useQuery({
    ...trpc.recordings.readInWorkspace.queryOptions({ id, recordingId: Number(recordingId) }),
    refetchInterval: ({ state }) => (isUnderWay(state.data?.recording) ? LIVE_POLL_MS : false),
  });
  if (recording.isPending) return <SkeletonRows />;
  // What was loaded stays while the service cannot be reached.
  if (recording.data === undefined) {
    const isUnknown = refusalWith(recording.error, 'NOT_FOUND');
    return (
      <>
        <PageHeader title="Recording" />
        <ErrorPanel
          what={isUnknown ? 'There is no such recording, or you cannot watch it' : 'The recording could not be loaded'}
          error={recording.error}
          onRetry={() => recording.refetch()}
        />
      </>
    );
  }
  return <Watch key={recordingId} recording={recording.data.recording} />;
}

/** Whether it may become available by itself. */
function isUnderWay(recording: Recording | undefined): boolean {
  return recording !== undefined && recording.status !== 'available' && recording.status !== 'failed';
}

function Watch({ recording }: { recording: Recording }) {
  const id = useWorkspaceId();
  const navigate = useNavigate();
  const mayChange = useHasRole('admin');
  const workspaceId = String(id);
  const title = toTitle(recording);
  const download = `/api/workspaces/${id}/recordings/${recording.id}/download`;
  const reason = recording.copy_error ?? recording.failure_reason;
  return (
    <>
      <PageHeader
        title={title}
        text={
          <>
            <Link
              to="/w/$workspaceId/rooms/$roomName"
              params={{ workspaceId, roomName: recording.room_name }}
              className="link wrap-anywhere"
            >
              {recording.room_name}
            </Link>
            , <Time at={recording.created_at} isRelative={false} />
          </>
        }
        actions={
          <>
            {recording.status === 'available' && (
              <a href={download} download className={buttonClass()}>
                <Download aria-hidden size={16} />
                Download
              </a>
            )}
            <CopyButton text={location.href} label="Copy the link of the recording">
              Copy the link
            </CopyButton>
            {mayChange && (
              <RecordingActions
                recording={recording}
                onDeleted={() => navigate({ to: '/w/$workspaceId/recordings', params: { workspaceId } })}
              />
            )}
          </>
        }
      />
      {recording.status === 'available' ? (
        <VideoPlayer
          src={download}
          posterUrl={recording.poster_url}
          label={`Video ${title}`}
          className="aspect-video max-h-[70dvh] w-full rounded-lg bg-black"
        />
      ) : (
        <p role="status" className="rounded-xl border border-line px-4 py-10 text-center">
          <Badge tone={toState(recording).tone}>{toState(recording).label}</Badge>
          {reason !== null && <span className="mt-2 block text-muted">{reason}</span>}
        </p>
      )}
      <dl className="mt-4 flex flex-wrap gap-x-8 gap-y-2">
        {recording.duration > 0 && <Fact name="Length">{formatDuration(recording.duration)}</Fact>}
        {recording.size > 0 && <Fact name="Size">{formatBytes(recording.size)}</Fact>}
        <Fact name="Status">{toState(recording).label}</Fact>
      </dl>
      <Neighbours recording={recording} />
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="m-0 font-medium">{children}</dd>
    </div>
  );
}

/** Leads to the newer and the older recording. */
function Neighbours({ recording }: { recording: Recording }) {
  const id = useWorkspaceId();
  const list = useInfiniteQuery(
    trpc.recordings.listInWorkspace.infiniteQueryOptions(
      { id, limit: PAGE_SIZE },
      { getNextPageParam: (page) => page.next_cursor },
    ),
  );
  const all = list.data?.pages.flatMap((page) => page.recordings) ?? [];
  const index = all.findIndex((one) => one.id === recording.id);
  const needsMore = (index === -1 || index === all.length - 1) && (list.data?.pages.length ?? MAX_PAGES) < MAX_PAGES;
  const { hasNextPage, isFetching, isError, fetchNextPage } = list;
  useEffect(() => {
    if (needsMore && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [needsMore, hasNextPage, isFetching, isError, fetchNextPage]);
  const [newer, older] = index === -1 ? [] : [all[index - 1], all[index + 1]];
  return (
    <nav aria-label="Other recordings" className="mt-6 flex flex-wrap justify-between gap-3">
      {newer === undefined ? <span /> : <Neighbour recording={newer} label="Newer" isBefore />}
      {older !== undefined && <Neighbour recording={older} label="Older" />}
    </nav>
  );
}

type NeighbourProps = { recording: Recording; label: string; isBefore?: boolean };

function Neighbour({ recording, label, isBefore = false }: NeighbourProps) {
  const id = useWorkspaceId();
  return (
    <Link
      to="/w/$workspaceId/recordings/$recordingId"
      params={{ workspaceId: String(id), recordingId: String(recording.id) }}
      className={`${buttonClass()} max-w-full`}
    >
      {isBefore && <ChevronLeft aria-hidden size={16} />}
      <span className="min-w-0 truncate">
        {label}: {toTitle(recording)}
      </span>
      {!isBefore && <ChevronRight aria-hidden size={16} />}
    </Link>
  );
}
