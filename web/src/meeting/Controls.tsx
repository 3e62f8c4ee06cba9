import {
  Circle,
  MessageSquare,
  Mic,
  MicOff,
  MonitorUp,
  MonitorX,
  PhoneOff,
  Square,
  Users,
  Video,
  VideoOff,
} from 'lucide-react';
import { useTexts } from '../languages/texts.ts';
import { ControlButton } from './ControlButton.tsx';
import type { CaptureKind } from './local-media.ts';

export type Panel = 'people' | 'chat';

export type ControlsProps = {
  isOn: Record<CaptureKind, boolean>;
  onToggle: (kind: CaptureKind) => void;
  /** null where the browser cannot share a screen. */
  share: { isSharing: boolean; toggle: () => void } | null;
  /** null where the browser or the room does not let this person record. */
  record: { isRecording: boolean; isPending: boolean; toggle: () => void } | null;
  panel: Panel | null;
  onPanel: (panel: Panel) => void;
  waitingCount: number;
  unreadCount: number;
  onLeave: () => void;
};

/** The bar below the tiles. */
export function Controls(props: ControlsProps) {
  const { isOn, onToggle, share, record, panel, onPanel, waitingCount, unreadCount, onLeave } = props;
  const { write } = useTexts();
  const toNews = useNews();
  return (
    <nav
      aria-label={write('meeting.controls')}
      className="flex shrink-0 items-center justify-center gap-1 border-t border-line bg-page px-1 py-2 min-[390px]:gap-1.5 sm:gap-2"
    >
      <DeviceButtons isOn={isOn} onToggle={onToggle} />
      {share !== null && (
        <ControlButton
          label={write(share.isSharing ? 'meeting.stopSharing' : 'meeting.shareScreen')}
          word={write(share.isSharing ? 'meeting.stop' : 'meeting.share')}
          icon={share.isSharing ? <MonitorX aria-hidden size={20} /> : <MonitorUp aria-hidden size={20} />}
          look={share.isSharing ? 'active' : 'plain'}
          shortcut="s"
          onClick={share.toggle}
        />
      )}
      {record !== null && (
        <ControlButton
          label={write(record.isRecording ? 'meeting.stopRecording' : 'meeting.record')}
          word={write(record.isRecording ? 'meeting.stop' : 'meeting.record')}
          icon={
            record.isRecording ? <Square aria-hidden size={18} fill="currentColor" /> : <Circle aria-hidden size={20} />
          }
          look={record.isRecording ? 'off' : 'plain'}
          shortcut="r"
          isPending={record.isPending}
          onClick={record.toggle}
        />
      )}
      <ControlButton
        label={write('meeting.people')}
        word={write('meeting.people')}
        icon={<Users aria-hidden size={20} />}
        look={panel === 'people' ? 'active' : 'plain'}
        shortcut="p"
        isExpanded={panel === 'people'}
        news={toNews('meeting.waitingCount', waitingCount)}
        onClick={() => onPanel('people')}
      />
      <ControlButton
        label={write('meeting.chat')}
        word={write('meeting.chat')}
        icon={<MessageSquare aria-hidden size={20} />}
        look={panel === 'chat' ? 'active' : 'plain'}
        shortcut="c"
        isExpanded={panel === 'chat'}
        news={toNews('meeting.newCount', unreadCount)}
        onClick={() => onPanel('chat')}
      />
      <ControlButton
        label={write('room.leave')}
        word={write('room.leave')}
        icon={<PhoneOff aria-hidden size={20} />}
        look="danger"
        onClick={onLeave}
      />
    </nav>
  );
}

const MAX_SHOWN = 9;

function useNews() {
  const { write, locale } = useTexts();
  const numbers = new Intl.NumberFormat(locale);
  return (key: 'meeting.waitingCount' | 'meeting.newCount', count: number) => ({
    count,
    shown: count > MAX_SHOWN ? `${numbers.format(MAX_SHOWN)}+` : numbers.format(count),
    text: count === 0 ? '' : write(key, { count }),
  });
}

/** The buttons of the microphone and the camera, in the lobby and in the meeting. */
export function DeviceButtons({ isOn, onToggle }: Pick<ControlsProps, 'isOn' | 'onToggle'>) {
  const { write } = useTexts();
  return (
    <>
      <ControlButton
        label={write(isOn.microphone ? 'device.mute' : 'device.unmute')}
        word={write(isOn.microphone ? 'device.mute' : 'device.unmute')}
        icon={isOn.microphone ? <Mic aria-hidden size={20} /> : <MicOff aria-hidden size={20} />}
        look={isOn.microphone ? 'plain' : 'off'}
        shortcut="m"
        onClick={() => onToggle('microphone')}
      />
      <ControlButton
        label={write(isOn.camera ? 'device.cameraOff' : 'device.cameraOn')}
        word={write('device.camera')}
        icon={isOn.camera ? <Video aria-hidden size={20} /> : <VideoOff aria-hidden size={20} />}
        look={isOn.camera ? 'plain' : 'off'}
        shortcut="v"
        onClick={() => onToggle('camera')}
      />
    </>
  );
}
