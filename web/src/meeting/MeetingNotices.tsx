import type { FailedRecording } from '@lynxroom/client/meeting';
import { CircleAlert, HardDriveUpload, MonitorUp, UserRound, Volume2, VolumeX, WifiOff } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../components/Button.tsx';
import { CopyButton } from '../components/CopyButton.tsx';
import { useTexts } from '../languages/texts.ts';
import { toRoomUrl } from '../lib/room-url.ts';
import { Name, Notice } from './Notice.tsx';
import { type RecorderState, RecorderStatus } from './recorder/index.ts';
import { sayFailed } from './recording-texts.ts';
import type { HostActions } from './use-host.ts';
import type { RecordAgain } from './use-record-button.ts';
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
  failed: FailedRecording | null;
  /** Whether another recording is running. */
  isRecorded: boolean;
  /** Null for those who may not record. */
  again: RecordAgain | null;
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
  const { write, writeWith } = useTexts();
  return (
    <div
      // Screen readers read only what is added to a region that is there already.
      aria-live="polite"
      className="pointer-events-none absolute inset-x-2 top-2 z-10 flex max-h-full flex-col items-center gap-2 overflow-hidden p-1"
    >
      {isReconnecting && (
        <Notice icon={<WifiOff aria-hidden size={20} className="shrink-0 text-warning-text" />}>
          {write('meeting.interrupted')}
        </Notice>
      )}
      {isSoundBlocked && (
        <Notice
          icon={<Volume2 aria-hidden size={20} className="shrink-0 text-accent-text" />}
          actions={
            <Button size="small" tone="primary" onClick={props.onTurnOnSound}>
              {write('meeting.turnOnSound')}
            </Button>
          }
        >
          {write('meeting.noSound')}
        </Notice>
      )}
      {waitingFor !== null && <WaitingNotice host={waitingFor} onShowAll={props.onShowPeople} />}
      {muteRequestedBy !== null && (
        <Notice
          icon={<VolumeX aria-hidden size={20} className="shrink-0 text-accent-text" />}
          actions={
            <Button size="small" tone="primary" onClick={props.onMute}>
              {write('meeting.muteMe')}
            </Button>
          }
          onDismiss={props.onDismissMute}
        >
          {writeWith('meeting.asksToMute', { name: <Name key="name">{muteRequestedBy}</Name> })}
        </Notice>
      )}
      {isSharing && (
        <Notice icon={<MonitorUp aria-hidden size={20} className="shrink-0 text-accent-text" />}>
          {write('meeting.sharing')}
        </Notice>
      )}
      <FailedNotice {...props} />
      <RecorderNotice state={recorder} />
      {isAlone && (
        <Notice
          icon={<UserRound aria-hidden size={20} className="shrink-0 text-accent-text" />}
          actions={
            <CopyButton text={toRoomUrl(props.roomName)} label={write('meeting.copyLinkOfRoom')}>
              {write('meeting.copyLink')}
            </CopyButton>
          }
        >
          {write('meeting.alone')}
        </Notice>
      )}
    </div>
  );
}

/** People believe to be recorded until they read this. */
function FailedNotice({ failed, isRecorded, again }: Pick<MeetingNoticesProps, 'failed' | 'isRecorded' | 'again'>) {
  const { write } = useTexts();
  const [dismissedId, setDismissedId] = useState<number | null>(null);
  if (failed === null || failed.id === dismissedId) return null;
  return (
    <Notice
      icon={<CircleAlert aria-hidden size={20} className="shrink-0 text-danger-text" />}
      {...(again !== null && { actions: <AgainButtons {...again} /> })}
      onDismiss={() => setDismissedId(failed.id)}
    >
      {write(sayFailed({ isRecorded }))}
    </Notice>
  );
}

/** What the server could not record, the page of this person may. */
function AgainButtons({ onServer, here }: RecordAgain) {
  const { write } = useTexts();
  return (
    <>
      {here !== null && (
        <Button size="small" tone="primary" onClick={here}>
          {write(onServer === null ? 'recording.again' : 'recording.here')}
        </Button>
      )}
      {onServer !== null && (
        <Button size="small" onClick={onServer}>
          {write('recording.again')}
        </Button>
      )}
    </>
  );
}

function RecorderNotice({ state }: { state: RecorderState }) {
  const [dismissed, setDismissed] = useState('');
  const { status, notice, error, result, earlier } = state;
  const said = [error, notice, result].flatMap((text) => (text === null ? [] : text.key)).join();
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
