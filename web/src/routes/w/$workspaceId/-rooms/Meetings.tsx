import type { Outputs } from '@lynxroom/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../../components/Badge.tsx';
import { Button, IconButton } from '../../../../components/Button.tsx';
import { Dialog } from '../../../../components/Dialog.tsx';
import { InfiniteList } from '../../../../components/Table.tsx';
import { Time } from '../../../../components/Time.tsx';
import { trpc } from '../../../../lib/client.ts';
import { nowSeconds } from '../../../../lib/clock.ts';
import { formatDuration, formatNumber, formatTime } from '../../../../lib/format.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { meetingsOptions } from './meetings.ts';
import { PlayDialog } from './PlayDialog.tsx';
import { toTitle } from './recording-states.ts';

type Meeting = Outputs['meetings']['list']['meetings'][number];
type Participant = Meeting['participants'][number];

/** The meetings in a room, or in all: who took part and when, how long they took, and their recordings. */
export function Meetings({ roomName }: { roomName?: string }) {
  const id = useWorkspaceId();
  const list = useInfiniteQuery(meetingsOptions(id, roomName));
  const [shown, setShown] = useState<number | null>(null);
  const [played, setPlayed] = useState<Meeting['recordings'][number] | null>(null);
  return (
    <section aria-label={roomName === undefined ? 'Past meetings' : 'Meetings in the room'}>
      <h2 className="mb-2 text-lg font-semibold">{roomName === undefined ? 'Past meetings' : 'Meetings'}</h2>
      <InfiniteList
        list={list}
        rowsOf={(page) => page.meetings}
        failure="The meetings could not be loaded"
        empty={
          <p className="text-muted">
            {roomName === undefined ? 'Nobody has met yet.' : 'Nobody has met in this room yet.'}
          </p>
        }
        skeletonRows={2}
        more="Show more meetings"
      >
        {(meetings) => (
          <ul className="rounded-xl border border-line">
            {meetings.map((meeting) => (
              <li key={meeting.id} className="flex flex-col gap-2 border-b border-line px-4 py-3 last:border-b-0">
                {roomName === undefined && <RoomLink room={meeting.room} />}
                <MeetingSummary meeting={meeting} />
                <ParticipantTimes participants={meeting.participants} />
                <div className="flex flex-wrap gap-2">
                  {meeting.participant_count > meeting.participants.length && (
                    <Button size="small" onClick={() => setShown(meeting.id)}>
                      Show all {formatNumber(meeting.participant_count)} participants
                    </Button>
                  )}
                  {meeting.recordings.map((recording) =>
                    recording.status === 'available' ? (
                      <span key={recording.id} className="flex min-w-0 items-center gap-1">
                        <IconButton
                          label={`Play ${toTitle(recording)}`}
                          icon={<Play aria-hidden size={16} />}
                          onClick={() => setPlayed(recording)}
                        />
                        <span className="min-w-0 wrap-anywhere">{toTitle(recording)}</span>
                      </span>
                    ) : (
                      <Badge key={recording.id}>
                        <span className="wrap-anywhere">{toTitle(recording)}</span>
                      </Badge>
                    ),
                  )}
                </div>
              </li>
            ))}
          </ul>
        )}
      </InfiniteList>
      {shown !== null && <ParticipantsDialog meetingId={shown} onClose={() => setShown(null)} />}
      {played !== null && (
        <PlayDialog
          recording={{ ...played, poster_url: null }}
          src={`/api/workspaces/${id}/recordings/${played.id}/download`}
          onClose={() => setPlayed(null)}
        />
      )}
    </section>
  );
}

function RoomLink({ room: { name, display_name } }: { room: Meeting['room'] }) {
  const id = useWorkspaceId();
  return (
    <Link
      to="/w/$workspaceId/rooms/$roomName"
      params={{ workspaceId: String(id), roomName: name }}
      className="link self-start font-medium wrap-anywhere"
    >
      {display_name ?? name}
    </Link>
  );
}

function MeetingSummary({ meeting: { started_at, ended_at, participant_count, peak } }: { meeting: Meeting }) {
  const people = `${formatNumber(participant_count)} ${participant_count === 1 ? 'participant' : 'participants'}`;
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <span className="font-medium">
        <Time at={started_at} isRelative={false} />
      </span>
      {ended_at === null && <Badge tone="success">In progress</Badge>}
      <span className="text-muted">
        {formatDuration((ended_at ?? nowSeconds()) - started_at)}, {people}
        {participant_count > 1 && `, at most ${formatNumber(peak)} at once`}
      </span>
    </p>
  );
}

function ParticipantTimes({ participants }: { participants: readonly Participant[] }) {
  return (
    <ul className="flex flex-col gap-1 text-sm">
      {participants.map(({ id, name, user_id, email, visits, visit_count }) => (
        <li key={id} className="min-w-0 break-words">
          {name} {user_id === null && <Badge>Guest</Badge>}
          {email !== null && <span className="text-muted"> {email}</span>}
          <span className="text-muted"> {visits.map(toTimes).join(', ')}</span>
          {visit_count > visits.length && (
            <span className="text-muted"> and {formatNumber(visit_count - visits.length)} more visits</span>
          )}
        </li>
      ))}
    </ul>
  );
}

function toTimes({ joined_at, left_at }: Participant['visits'][number]): string {
  return left_at === null ? `since ${formatTime(joined_at)}` : `${formatTime(joined_at)} to ${formatTime(left_at)}`;
}

function ParticipantsDialog({ meetingId, onClose }: { meetingId: number; onClose: () => void }) {
  const id = useWorkspaceId();
  const list = useInfiniteQuery(
    trpc.meetings.read.infiniteQueryOptions({ id, meetingId }, { getNextPageParam: (page) => page.next_cursor }),
  );
  return (
    <Dialog isWide onClose={onClose} title="Participants of the meeting">
      <InfiniteList
        list={list}
        rowsOf={({ meeting }) => meeting.participants}
        failure="The participants could not be loaded"
        more="Show more participants"
      >
        {(participants) => <ParticipantTimes participants={participants} />}
      </InfiniteList>
    </Dialog>
  );
}
