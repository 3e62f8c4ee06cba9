import { DoorOpen } from 'lucide-react';
import { Button } from '../components/Button.tsx';
import { useTexts } from '../languages/texts.ts';
import { Name, Notice } from './Notice.tsx';
import type { HostActions, WaitingPerson } from './use-host.ts';

const SHOWN = 3;

type WaitingNoticeProps = { host: HostActions; onShowAll: () => void };

/** Tells a host who wants to come in. */
export function WaitingNotice({ host, onShowAll }: WaitingNoticeProps) {
  const { write, writeWith } = useTexts();
  const more = host.waiting.length - SHOWN;
  return (
    <>
      {host.waiting.slice(0, SHOWN).map((person) => (
        <Notice
          key={person.id}
          icon={<DoorOpen aria-hidden size={20} className="shrink-0 text-accent-text" />}
          actions={<Decisions host={host} person={person} />}
        >
          {writeWith('meeting.wantsToJoin', { name: <Name key="name">{person.name}</Name> })}
        </Notice>
      ))}
      {more > 0 && (
        <Notice actions={<Button onClick={onShowAll}>{write('meeting.showAll')}</Button>}>
          {write(host.hasMoreWaiting ? 'meeting.orMoreWait' : 'meeting.moreWait', { count: more })}
        </Notice>
      )}
    </>
  );
}

/** The answers to a person who waits. */
export function Decisions({ host, person: { id, name } }: { host: HostActions; person: WaitingPerson }) {
  const { write } = useTexts();
  return (
    <>
      <Button
        size="small"
        tone="primary"
        aria-label={write('meeting.admitName', { name })}
        onClick={() => host.admit(id)}
      >
        {write('meeting.admit')}
      </Button>
      <Button size="small" aria-label={write('meeting.refuseName', { name })} onClick={() => host.refuse(id)}>
        {write('meeting.refuse')}
      </Button>
    </>
  );
}
