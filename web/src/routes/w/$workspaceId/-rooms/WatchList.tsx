import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Film, Play } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../../components/Badge.tsx';
import { IconButton } from '../../../../components/Button.tsx';
import { Poster } from '../../../../components/Poster.tsx';
import { InfiniteTable } from '../../../../components/Table.tsx';
import { Time } from '../../../../components/Time.tsx';
import { trpc } from '../../../../lib/client.ts';
import { formatBytes, formatDuration } from '../../../../lib/format.ts';
import { LIVE_POLL_MS } from '../../../../lib/live.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { PlayDialog } from './PlayDialog.tsx';
import { type Recording, toState, toTitle } from './recording-states.ts';

const PAGE_SIZE = 20;

type Wanted = { search?: string; user_id?: number; from?: number; to?: number; status?: Recording['status'] };
type WatchListProps = {
  /** Lists only the recordings of this room. */
  roomName?: string;
  wanted?: Wanted;
  isEnabled?: boolean;
};

/** The recordings of the workspace that the person can watch. */
export function WatchList({ roomName, wanted = {}, isEnabled = true }: WatchListProps) {
  const id = useWorkspaceId();
  const [playing, setPlaying] = useState<Recording | null>(null);
  const list = useInfiniteQuery({
    ...trpc.recordings.listInWorkspace.infiniteQueryOptions(
      { id, limit: PAGE_SIZE, ...wanted, ...(roomName !== undefined && { room_name: roomName }) },
      { getNextPageParam: (page) => page.next_cursor },
    ),
    enabled: isEnabled,
    placeholderData: keepPreviousData,
    refetchInterval: LIVE_POLL_MS,
  });
  return (
    <>
      <InfiniteTable
        list={list}
        rowsOf={(page) => page.recordings}
        failure="The recordings could not be loaded"
        empty={<p className="text-muted">{emptyText(roomName, wanted)}</p>}
        skeletonRows={2}
        caption="Recordings"
        keyOf={(recording) => recording.id}
        columns={[
          {
            heading: 'Title',
            className: 'min-w-56',
            cell: (recording) => (
              <div className="flex items-center gap-3">
                <Poster url={recording.poster_url} icon={<Film aria-hidden size={20} />} className="h-10 w-16" />
                <Link
                  to="/w/$workspaceId/recordings/$recordingId"
                  params={{ workspaceId: String(id), recordingId: String(recording.id) }}
                  className="link min-w-0 font-medium wrap-anywhere"
                >
                  {toTitle(recording)}
                </Link>
              </div>
            ),
          },
          ...(roomName === undefined
            ? [{ heading: 'Room', cell: (recording: Recording) => <RoomLink name={recording.room_name} /> }]
            : []),
          {
            heading: 'Status',
            cell: (recording) => <Badge tone={toState(recording).tone}>{toState(recording).label}</Badge>,
          },
          { heading: 'Length', isNumber: true, cell: ({ duration }) => duration > 0 && formatDuration(duration) },
          { heading: 'Size', isNumber: true, cell: ({ size }) => size > 0 && formatBytes(size) },
          { heading: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            heading: 'Actions',
            isHeadingHidden: true,
            className: 'w-14 py-1',
            cell: (recording) =>
              recording.status === 'available' && (
                <IconButton
                  label={`Play ${toTitle(recording)}`}
                  icon={<Play aria-hidden size={16} />}
                  onClick={() => setPlaying(recording)}
                />
              ),
          },
        ]}
      />
      {playing !== null && (
        <PlayDialog
          recording={playing}
          src={`/api/workspaces/${id}/recordings/${playing.id}/download`}
          onClose={() => setPlaying(null)}
        />
      )}
    </>
  );
}

function emptyText(roomName: string | undefined, wanted: Wanted): string {
  if (roomName !== undefined) return 'This room has no recordings.';
  return Object.keys(wanted).length > 0 ? 'No recording matches.' : 'There are no recordings that you can watch.';
}

function RoomLink({ name }: { name: string }) {
  const id = useWorkspaceId();
  return (
    <Link
      to="/w/$workspaceId/rooms/$roomName"
      params={{ workspaceId: String(id), roomName: name }}
      className="link wrap-anywhere"
    >
      {name}
    </Link>
  );
}
