import type { Outputs } from '@lynxroom/client';
import { useQuery } from '@tanstack/react-query';
import { Badge } from '../../../../components/Badge.tsx';
import { Time } from '../../../../components/Time.tsx';
import { MEMBER_POLL_MS } from '../../../../lib/live.ts';
import { useHasRole, useWorkspaceId } from '../../../../lib/workspace.ts';
import { JoinLink } from '../-rooms/JoinLink.tsx';
import { Card } from './Card.tsx';
import { meetingsOptions } from './queries.ts';

type Participant = Outputs['meetings']['list']['meetings'][number]['participants'][number];

const MAX_NAMES = 3;

/** Who meets at this moment. Events refresh it. */
export function OngoingMeetings() {
  const id = useWorkspaceId();
  const isAdmin = useHasRole('admin');
  const meetings = useQuery({
    ...meetingsOptions(id),
    refetchInterval: isAdmin ? false : MEMBER_POLL_MS,
  });
  return (
    <Card
      title="In a meeting now"
      list={meetings}
      rowsOf={(page) => page.meetings.filter(({ ended_at }) => ended_at === null)}
      failure="The meetings could not be loaded"
      keyOf={({ id }) => id}
      empty="Nobody is in a room."
    >
      {({ room, started_at, participants }) => (
        <>
          <span className="min-w-0">
            <span className="font-medium wrap-anywhere">{room.display_name ?? room.name}</span>{' '}
            <Badge tone="success">
              since <Time at={started_at} />
            </Badge>
            <span className="block text-sm wrap-anywhere text-muted">{describePeople(participants)}</span>
          </span>
          <JoinLink roomName={room.name} title={room.display_name ?? room.name} />
        </>
      )}
    </Card>
  );
}

/** Those who are there now, as far as the list has them. */
function describePeople(participants: readonly Participant[]): string {
  const names = participants
    .filter(({ visits }) => visits.some(({ left_at }) => left_at === null))
    .map(({ name }) => name);
  const more = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
