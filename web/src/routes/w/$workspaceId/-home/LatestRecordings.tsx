import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Film } from 'lucide-react';
import { Badge } from '../../../../components/Badge.tsx';
import { buttonClass } from '../../../../components/Button.tsx';
import { Poster } from '../../../../components/Poster.tsx';
import { Time } from '../../../../components/Time.tsx';
import { formatDuration } from '../../../../lib/format.ts';
import { MEMBER_POLL_MS } from '../../../../lib/live.ts';
import { useHasRole, useWorkspaceId } from '../../../../lib/workspace.ts';
import { toState, toTitle } from '../-rooms/recording-states.ts';
import { Card } from './Card.tsx';
import { recordingsOptions } from './queries.ts';

/** The newest recordings that the person can watch. */
export function LatestRecordings() {
  const id = useWorkspaceId();
  const isAdmin = useHasRole('admin');
  const workspaceId = String(id);
  const recordings = useQuery({
    ...recordingsOptions(id),
    refetchInterval: isAdmin ? false : MEMBER_POLL_MS,
  });
  return (
    <Card
      title="Latest recordings"
      actions={
        <Link to="/w/$workspaceId/recordings" params={{ workspaceId }} className={buttonClass('secondary', 'small')}>
          All recordings
        </Link>
      }
      list={recordings}
      rowsOf={(page) => page.recordings}
      failure="The recordings could not be loaded"
      keyOf={({ id }) => id}
      empty="Nothing is recorded yet: press “Record” in a meeting."
    >
      {(recording) => (
        <>
          <span className="flex min-w-0 items-center gap-3">
            <Poster url={recording.poster_url} icon={<Film aria-hidden size={20} />} className="h-10 w-16" />
            <span className="min-w-0">
              <Link
                to="/w/$workspaceId/recordings/$recordingId"
                params={{ workspaceId, recordingId: String(recording.id) }}
                className="link font-medium wrap-anywhere"
              >
                {toTitle(recording)}
              </Link>
              <span className="block text-sm wrap-anywhere text-muted">
                {recording.duration > 0 && `${formatDuration(recording.duration)}, `}
                {recording.room_name}, <Time at={recording.created_at} />
              </span>
            </span>
          </span>
          {recording.status !== 'available' && <Badge tone={toState(recording).tone}>{toState(recording).label}</Badge>}
        </>
      )}
    </Card>
  );
}
