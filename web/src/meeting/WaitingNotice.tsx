import { DoorOpen } from 'lucide-react';
import { Button } from '../components/Button.tsx';
import { Notice } from './Notice.tsx';
import type { HostActions, WaitingPerson } from './use-host.ts';

const SHOWN = 3;

type WaitingNoticeProps = { host: HostActions; onShowAll: () => void };

/** Tells a host who wants to come in. */
export function WaitingNotice({ host, onShowAll }: WaitingNoticeProps) {
  const more = host.waiting.length - SHOWN;
  return (
    <>
      {host.waiting.slice(0, SHOWN).map((person) => (
        <Notice
          key={person.id}
          icon={<DoorOpen aria-hidden size={20} className="shrink-0 text-accent-text" />}
          actions={<Decisions host={host} person={person} />}
        >
          <span className="font-medium">{person.name}</span> wants to join
        </Notice>
      ))}
      {more > 0 && (
        <Notice actions={<Button onClick={onShowAll}>Show all</Button>}>
          {more === 1
            ? 'One more person waits'
            : `${more} ${host.hasMoreWaiting ? 'or more people' : 'more people'} wait`}
        </Notice>
      )}
    </>
  );
}

/** The answers to a person who waits. */
export function Decisions({ host, person: { id, name } }: { host: HostActions; person: WaitingPerson }) {
  return (
    <>
      <Button size="small" tone="primary" aria-label={`Admit ${name}`} onClick={() => host.admit(id)}>
        Admit
      </Button>
      <Button size="small" aria-label={`Refuse ${name}`} onClick={() => host.refuse(id)}>
        Refuse
      </Button>
    </>
  );
}
