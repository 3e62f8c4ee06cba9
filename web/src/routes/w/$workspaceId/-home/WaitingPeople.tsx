import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { Badge } from '../../../../components/Badge.tsx';
import { Button } from '../../../../components/Button.tsx';
import { Time } from '../../../../components/Time.tsx';
import { client } from '../../../../lib/client.ts';
import { LIVE_POLL_MS } from '../../../../lib/live.ts';
import { useOptimisticMutation } from '../../../../lib/optimistic.ts';
import { useHasRole, useWorkspaceId } from '../../../../lib/workspace.ts';
import { Card } from './Card.tsx';
import { waitingOptions } from './queries.ts';

type Decision = { roomName: string; participantId: number; decision: 'admit' | 'refuse' };

/** Who waits to be let in, in all rooms of which the person is a host. No event tells it, so it is read again. */
export function WaitingPeople() {
  const id = useWorkspaceId();
  const isAdmin = useHasRole('admin');
  const options = waitingOptions(id);
  const waiting = useQuery({ ...options, refetchInterval: LIVE_POLL_MS });
  const card = useRef<HTMLDivElement>(null);
  const decide = useOptimisticMutation({
    mutationFn: ({ roomName, participantId, decision }: Decision) =>
      client.participants[decision].mutate({ name: roomName, participantId }),
    apply(cache, { participantId }) {
      cache.update(options.queryKey, (page) => ({
        ...page,
        participants: page.participants.filter((one) => one.id !== participantId),
      }));
    },
    failure: 'Could not admit or refuse the participant',
  });
  // Few members are the host of a room.
  if (!isAdmin && !waiting.data?.participants.length) return null;

  function carryOut(decision: Decision): void {
    decide.mutate(decision);
    // The button that has the focus disappears.
    card.current?.focus();
  }

  return (
    <div ref={card} tabIndex={-1} className="min-w-0 outline-none">
      <Card
        title="Waiting now"
        list={waiting}
        rowsOf={(page) => page.participants}
        keyOf={(person) => person.id}
        failure="Who waits could not be loaded"
        empty="Nobody waits to be let in."
        more={waiting.data?.next_cursor !== undefined && <p className="text-muted">More people wait.</p>}
      >
        {({ id: participantId, name, user_id, created_at, room }) => (
          <>
            <span className="min-w-0">
              <span className="font-medium wrap-anywhere">{name}</span> {user_id === null && <Badge>Guest</Badge>}
              <span className="block text-sm wrap-anywhere text-muted">
                <Link
                  to="/w/$workspaceId/rooms/$roomName"
                  params={{ workspaceId: String(id), roomName: room.name }}
                  className="link"
                >
                  {room.display_name ?? room.name}
                </Link>
                , <Time at={created_at} />
              </span>
            </span>
            <span className="flex gap-2">
              <Button
                size="small"
                tone="primary"
                aria-label={`Admit ${name}`}
                onClick={() => carryOut({ roomName: room.name, participantId, decision: 'admit' })}
              >
                Admit
              </Button>
              <Button
                size="small"
                aria-label={`Refuse ${name}`}
                onClick={() => carryOut({ roomName: room.name, participantId, decision: 'refuse' })}
              >
                Refuse
              </Button>
            </span>
          </>
        )}
      </Card>
    </div>
  );
}
