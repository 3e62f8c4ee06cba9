import type { Outputs } from '@lynxroom/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { Badge } from '../../../../components/Badge.tsx';
import { Button } from '../../../../components/Button.tsx';
import { WholeList } from '../../../../components/Table.tsx';
import { Time } from '../../../../components/Time.tsx';
import { allPagesOf } from '../../../../lib/all-pages.ts';
import { client, trpc } from '../../../../lib/client.ts';
import { LIVE_POLL_MS } from '../../../../lib/live.ts';
import { useOptimisticMutation } from '../../../../lib/optimistic.ts';

type Participant = Outputs['participants']['list']['participants'][number];
type Decision = 'admit' | 'refuse' | 'remove';

/** Everybody who is in the room or waits, so that the number of people is right. */
export function participantsOptions(name: string) {
  return queryOptions({
    queryKey: [...trpc.participants.list.queryKey({ name }), 'all'],
    queryFn: ({ signal }) =>
      allPagesOf(
        (cursor) => client.participants.list.query({ name, cursor }, { signal }),
        (page) => page.participants,
      ),
  });
}

/** Who is in the room, and who waits. */
export function Participants({ roomName }: { roomName: string }) {
  const options = participantsOptions(roomName);
  const list = useQuery({ ...options, refetchInterval: LIVE_POLL_MS });
  const lists = useRef<HTMLDivElement>(null);
  const decide = useOptimisticMutation({
    mutationFn: ({ participantId, decision }: { participantId: number; decision: Decision }) =>
      client.participants[decision].mutate({ name: roomName, participantId }),
    apply(cache, { participantId, decision }) {
      cache.update(options.queryKey, (people) =>
        decision === 'admit'
          ? people.map((one) => (one.id === participantId ? { ...one, status: 'joined' } : one))
          : people.filter((one) => one.id !== participantId),
      );
    },
    failure: 'Could not admit, refuse or remove the participant',
  });

  function carryOut(participantId: number, decision: Decision): void {
    decide.mutate({ participantId, decision });
    // The button that has the focus disappears.
    lists.current?.focus();
  }

  return (
    <div ref={lists} tabIndex={-1} className="outline-none">
      <WholeList
        list={list}
        rowsOf={(data) => data}
        failure="The participants could not be loaded"
        empty={<PeopleLists people={[]} onDecide={carryOut} />}
        skeletonRows={2}
      >
        {(people) => <PeopleLists people={people} onDecide={carryOut} />}
      </WholeList>
    </div>
  );
}

type PeopleListsProps = {
  people: readonly Participant[];
  onDecide: (participantId: number, decision: Decision) => void;
};

function PeopleLists({ people, onDecide }: PeopleListsProps) {
  const waiting = people.filter(({ status }) => status === 'waiting');
  const joined = people.filter(({ status }) => status === 'joined');
  return (
    <div className="flex flex-col gap-8">
      {waiting.length > 0 && (
        <PeopleList
          title="Waiting"
          people={waiting}
          actions={(person) => (
            <>
              <Button
                size="small"
                tone="primary"
                onClick={() => onDecide(person.id, 'admit')}
                aria-label={`Admit ${person.name}`}
              >
                Admit
              </Button>
              <Button size="small" onClick={() => onDecide(person.id, 'refuse')} aria-label={`Refuse ${person.name}`}>
                Refuse
              </Button>
            </>
          )}
        />
      )}
      <PeopleList
        title="In the room"
        people={joined}
        actions={(person) => (
          <Button size="small" onClick={() => onDecide(person.id, 'remove')} aria-label={`Remove ${person.name}`}>
            Remove
          </Button>
        )}
      />
    </div>
  );
}

type PeopleListProps = {
  title: string;
  people: readonly Participant[];
  actions: (person: Participant) => React.ReactNode;
};

function PeopleList({ title, people, actions }: PeopleListProps) {
  return (
    <section aria-label={title}>
      <h2 className="mb-2 text-lg font-semibold">
        {title} <span className="text-muted">({people.length})</span>
      </h2>
      {people.length === 0 ? (
        <p className="text-muted">Nobody is here at the moment. Send the link to your guests.</p>
      ) : (
        <ul className="rounded-xl border border-line">
          {people.map((person) => (
            <li
              key={person.id}
              className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2 last:border-b-0"
            >
              <div className="min-w-0">
                <p>
                  <span className="font-medium">{person.name}</span> {person.user_id === null && <Badge>Guest</Badge>}
                </p>
                <p className="text-sm text-muted">
                  {person.email !== null && (
                    <>
                      {person.email} ({person.email_verified ? 'confirmed' : 'not confirmed'}),{' '}
                    </>
                  )}
                  <Time at={person.joined_at ?? person.created_at} />
                </p>
              </div>
              <div className="flex gap-2">{actions(person)}</div>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
