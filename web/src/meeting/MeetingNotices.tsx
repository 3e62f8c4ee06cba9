import { HardDriveUpload, MonitorUp, UserRound, Volume2, VolumeX, WifiOff } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../components/Button.tsx';
import { CopyButton } from '../components/CopyButton.tsx';
import { toRoomUrl } from '../lib/room-url.ts';
import { Notice } from './Notice.tsx';
import { type RecorderState, RecorderStatus } from './recorder/index.ts';
import type { HostActions } from './use-host.ts';
import { WaitingNotice } from './WaitingNotice.tsx';

export type MeetingNoticesProps = {
  roomName: string;
  isAlone: boolean;
  isReconnecting: boolean;
  isSoundBlocked: boolean;
  isSharing: boolean;
  /** The host who has asked everybody to mute, as long as this person has not answered. */
  muteRequestedBy: string | null;
  recorder: RecorderState;
  /** null for those who are no host, and while the panel shows who waits. */
  waitingFor: HostActions | null;
  onTurnOnSound: () => void;
  onMute: () => void;
  onDismissMute: () => void;
  onShowPeople: () => void;
};

/** What needs attention, above the tiles. */
export function MeetingNotices(props: MeetingNoticesProps) {
  const { isAlone, isReconnecting, isSoundBlocked, isSharing, muteRequestedBy, recorder, waitingFor } = props;
  return (
    <div
      // Screen readers read only what is added to a region that is there already.
      aria-live="polite"
      className="pointer-events-none absolute inset-x-2 top-2 z-10 flex max-h-full flex-col items-center gap-2 overflow-hidden p-1"
    >
      {isReconnecting && (
        <Notice icon={<WifiOff aria-hidden size={20} className="shrink-0 text-warning-text" />}>
          The connection to the service is interrupted. It is being restored.
        </Notice>
      )}
      {isSoundBlocked && (
        <Notice
          icon={<Volume2 aria-hidden size={20} className="shrink-0 text-accent-text" />}
          actions={
            <Button size="small" tone="primary" onClick={props.onTurnOnSound}>
              Turn on sound
            </Button>
          }
        >
          Your browser plays no sound by itself.
        </Notice>
      )}
      {waitingFor !== null && <WaitingNotice host={waitingFor} onShowAll={props.onShowPeople} />}
      {muteRequestedBy !== null && (
        <Notice
          icon={<VolumeX aria-hidden size={20} className="shrink-0 text-accent-text" />}
          actions={
            <Button size="small" tone="primary" onClick={props.onMute}>
              Turn my microphone off
            </Button>
          }
          onDismiss={props.onDismissMute}
        >
          <span className="font-medium">{muteRequestedBy}</span> asks everybody to mute
        </Notice>
      )}
      {isSharing && (
        <Notice icon={<MonitorUp aria-hidden size={20} className="shrink-0 text-accent-text" />}>
          The others see your screen.
        </Notice>
      )}
      <RecorderNotice state={recorder} />
      {isAlone && (
        <Notice
          icon={<UserRound aria-hidden size={20} className="shrink-0 text-accent-text" />}
          actions={
            <CopyButton text={toRoomUrl(props.roomName)} label="Copy the link of the room">
              Copy the link
            </CopyButton>
          }
        >
          You are in the room. Nobody else is here yet.
        </Notice>
      )}
    </div>
  );
}

function RecorderNotice({ state }: { state: RecorderState }) {
  const [dismissed, setDismissed] = useState('');
  const { status, notice, error, result, earlier } = state;
  const said = [error, notice, result].filter((text) => text !== null).join();
  const isSending = status === 'sending' || earlier > 0;
  if (!isSending && (said === '' || said === dismissed)) return null;
  return (
    <Notice
      icon={<HardDriveUpload aria-hidden size={20} className="shrink-0 text-accent-text" />}
      {...(!isSending && { onDismiss: () => setDismissed(said) })}
    >
      <RecorderStatus state={state} />
    </Notice>
  );
}
