import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Film, Play } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../../components/Badge.tsx';
import { IconButton } from '../../../../components/Button.tsx';
import { Poster } from '../../../../components/Poster.tsx';
import { InfiniteTable } from '../../../../components/Table.tsx';
import { Time } from '../../../../components/Time.tsx';
import { trpc } from '../../../../lib/client.ts';
import { LIVE_POLL_MS } from '../../../../lib/live.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { PlayDialog } from './PlayDialog.tsx';
import { RecordingActions } from './RecordingActions.tsx';
import { type Recording, toState, toTitle } from './recording-states.ts';

const PAGE_SIZE = 20;

export function recordingsOptions(roomName: string) {
  return trpc.recordings.listInRoom.infiniteQueryOptions(
    { name: roomName, limit: PAGE_SIZE },
    { getNextPageParam: (page) => page.next_cursor },
  );
}

/** The recordings of a room: play, stop, retry, rename, save to the library, delete. */
export function Recordings({ roomName }: { roomName: string }) {
  const id = useWorkspaceId();
  const [played, setPlayed] = useState<Recording | null>(null);
  const list = useInfiniteQuery({ ...recordingsOptions(roomName), refetchInterval: LIVE_POLL_MS });

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
                  <IconButton label="Play" icon={<Play aria-hidden size={16} />} onClick={() => setPlayed(recording)} />
                )}
                <RecordingActions recording={recording} />
              </div>
            ),
          },
        ]}
      />
      {played !== null && (
        <PlayDialog
          recording={played}
          src={`/api/dashboard/recordings/${played.id}/download`}
          onClose={() => setPlayed(null)}
        />
      )}
    </section>
  );
}
