import type { MeetingSnapshot, Peer } from '@lynxroom/client/meeting';
import { Lock, LockOpen, MicOff, Video, VideoOff, VolumeX, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Badge } from '../components/Badge.tsx';
import { Button } from '../components/Button.tsx';
import { ConfirmDialog } from '../components/Dialog.tsx';
import { useTexts } from '../languages/texts.ts';
import type { CaptureKind } from './local-media.ts';
import { SidePanel } from './SidePanel.tsx';
import type { HostActions } from './use-host.ts';
import { Decisions } from './WaitingNotice.tsx';

type PeoplePanelProps = {
  snapshot: MeetingSnapshot;
  /** The own devices. */
  isOn: Record<CaptureKind, boolean>;
  /** null for those who are no host. */
  host: HostActions | null;
  onClose: () => void;
};

/** Who is here and who waits, and what a host can do. */
export function PeoplePanel({ snapshot, isOn, host, onClose }: PeoplePanelProps) {
  const { participant, peers } = snapshot;
  const { write } = useTexts();
  return (
    <SidePanel title={write('meeting.people')} onClose={onClose}>
      <div className="flex min-h-0 flex-1 flex-col gap-5 overflow-y-auto px-4 py-3">
        {host !== null && host.waiting.length > 0 && (
          <section aria-label={write('room.waiting')}>
            <h3 className="mb-1 text-sm font-semibold text-muted">
              {write(host.hasMoreWaiting ? 'meeting.waitingListAndMore' : 'meeting.waitingList', {
                count: host.waiting.length,
              })}
            </h3>
            <ul className="flex flex-col">
              {host.waiting.map((person) => (
                <Row key={person.id} name={person.name} actions={<Decisions host={host} person={person} />} />
              ))}
            </ul>
          </section>
        )}
        <section aria-label={write('meeting.inMeeting')}>
          <h3 className="mb-1 text-sm font-semibold text-muted">
            {write('meeting.inMeetingCount', { count: peers.length + 1 })}
          </h3>
          <ul className="flex flex-col">
            {participant !== null && (
              <Row
                name={write('meeting.you', { name: participant.name })}
                badges={<Badges isHost={participant.is_host === 1} isMember={participant.is_member === 1} />}
                marks={<Marks hasMicrophone={isOn.microphone} hasCamera={isOn.camera} />}
              />
            )}
            {peers.map((peer) => (
              <PeerRow key={peer.id} peer={peer} host={host} />
            ))}
          </ul>
        </section>
      </div>
      {host !== null && <HostTools snapshot={snapshot} host={host} />}
    </SidePanel>
  );
}

function PeerRow({ peer, host }: { peer: Peer; host: HostActions | null }) {
  const { write } = useTexts();
  const isAway = peer.state === 'away';
  return (
    <Row
      name={peer.name}
      badges={<Badges isHost={peer.isHost} isMember={peer.isMember} />}
      note={isAway ? write('meeting.away') : undefined}
      marks={isAway ? undefined : <Marks hasMicrophone={peer.hasMicrophone} hasCamera={peer.hasCamera} />}
      actions={
        host !== null && (
          <Button
            size="small"
            aria-label={write('meeting.removeName', { name: peer.name })}
            onClick={() => host.remove(peer.id)}
          >
            {write('meeting.remove')}
          </Button>
        )
      }
    />
  );
}

type RowProps = { name: string; badges?: ReactNode; note?: string | undefined; marks?: ReactNode; actions?: ReactNode };

function Row({ name, badges, note, marks, actions }: RowProps) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-2 border-b border-line py-2 last:border-b-0">
      <div className="min-w-0 flex-1">
        <p className="font-medium">{name}</p>
        {badges}
        {note !== undefined && <p className="text-sm text-muted">{note}</p>}
      </div>
      <div className="flex items-center gap-2">
        {marks}
        {actions}
      </div>
    </li>
  );
}

function Badges({ isHost, isMember }: { isHost: boolean; isMember: boolean }) {
  const { write } = useTexts();
  if (isHost) return <Badge tone="accent">{write('meeting.host')}</Badge>;
  return isMember ? <Badge tone="success">{write('meeting.member')}</Badge> : <Badge>{write('meeting.guest')}</Badge>;
}

function Marks({ hasMicrophone, hasCamera }: { hasMicrophone: boolean; hasCamera: boolean }) {
  const { write } = useTexts();
  return (
    <>
      {!hasMicrophone && (
        <MicOff role="img" aria-label={write('meeting.muted')} size={17} className="shrink-0 text-danger-text" />
      )}
      {hasCamera ? (
        <Video role="img" aria-label={write('meeting.cameraOn')} size={17} className="shrink-0 text-muted" />
      ) : (
        <VideoOff role="img" aria-label={write('meeting.cameraOff')} size={17} className="shrink-0 text-muted" />
      )}
    </>
  );
}

function HostTools({ snapshot, host }: { snapshot: MeetingSnapshot; host: HostActions }) {
  const { write } = useTexts();
  const [isClosing, setIsClosing] = useState(false);
  const { setChatEnabled } = host;
  const isLocked = snapshot.participant?.room_locked === 1;
  return (
    <section aria-label={write('meeting.forHosts')} className="flex shrink-0 flex-wrap gap-2 border-t border-line p-3">
      <Button size="small" icon={<VolumeX aria-hidden size={16} />} onClick={host.muteAll}>
        {write('meeting.muteAll')}
      </Button>
      <Button
        size="small"
        icon={isLocked ? <LockOpen aria-hidden size={16} /> : <Lock aria-hidden size={16} />}
        onClick={() => host.setLocked(!isLocked)}
      >
        {write(isLocked ? 'meeting.unlock' : 'meeting.lock')}
      </Button>
      <Button size="small" icon={<X aria-hidden size={16} />} onClick={() => setIsClosing(true)}>
        {write('meeting.close')}
      </Button>
      {setChatEnabled !== null && (
        <label className="flex w-full items-center gap-2">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={snapshot.isChatEnabled}
            onChange={({ target }) => setChatEnabled(target.checked)}
          />
          {write('meeting.peopleCanChat')}
        </label>
      )}
      {isClosing && (
        <ConfirmDialog
          onClose={() => setIsClosing(false)}
          title={write('meeting.closeQuestion')}
          text={write('meeting.closeText')}
          action={write('meeting.close')}
          onConfirm={host.close}
        />
      )}
    </section>
  );
}
