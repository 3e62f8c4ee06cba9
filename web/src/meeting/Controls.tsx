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
  return (
    <nav
      aria-label="Controls"
      className="flex shrink-0 items-center justify-center gap-1 border-t border-line bg-page px-1 py-2 min-[390px]:gap-1.5 sm:gap-2"
    >
      <DeviceButtons isOn={isOn} onToggle={onToggle} />
      {share !== null && (
        <ControlButton
          label={share.isSharing ? 'Stop sharing' : 'Share screen'}
          word={share.isSharing ? 'Stop' : 'Share'}
          icon={share.isSharing ? <MonitorX aria-hidden size={20} /> : <MonitorUp aria-hidden size={20} />}
          look={share.isSharing ? 'active' : 'plain'}
          shortcut="s"
          onClick={share.toggle}
        />
      )}
      {record !== null && (
        <ControlButton
          label={record.isRecording ? 'Stop recording' : 'Record'}
          word={record.isRecording ? 'Stop' : 'Record'}
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
        label="People"
        word="People"
        icon={<Users aria-hidden size={20} />}
        look={panel === 'people' ? 'active' : 'plain'}
        shortcut="p"
        isExpanded={panel === 'people'}
        news={{ count: waitingCount, text: waitingCount === 0 ? '' : `${waitingCount} waiting` }}
        onClick={() => onPanel('people')}
      />
      <ControlButton
        label="Chat"
        word="Chat"
        icon={<MessageSquare aria-hidden size={20} />}
        look={panel === 'chat' ? 'active' : 'plain'}
        shortcut="c"
        isExpanded={panel === 'chat'}
        news={{ count: unreadCount, text: unreadCount === 0 ? '' : `${unreadCount} new` }}
        onClick={() => onPanel('chat')}
      />
      <ControlButton
        label="Leave"
        word="Leave"
        icon={<PhoneOff aria-hidden size={20} />}
        look="danger"
        onClick={onLeave}
      />
    </nav>
  );
}

/** The buttons of the microphone and the camera, in the lobby and in the meeting. */
export function DeviceButtons({ isOn, onToggle }: Pick<ControlsProps, 'isOn' | 'onToggle'>) {
  return (
    <>
      <ControlButton
        label={isOn.microphone ? 'Mute' : 'Unmute'}
        word={isOn.microphone ? 'Mute' : 'Unmute'}
        icon={isOn.microphone ? <Mic aria-hidden size={20} /> : <MicOff aria-hidden size={20} />}
        look={isOn.microphone ? 'plain' : 'off'}
        shortcut="m"
        onClick={() => onToggle('microphone')}
      />
      <ControlButton
        label={isOn.camera ? 'Turn camera off' : 'Turn camera on'}
        word="Camera"
        icon={isOn.camera ? <Video aria-hidden size={20} /> : <VideoOff aria-hidden size={20} />}
        look={isOn.camera ? 'plain' : 'off'}
        shortcut="v"
        onClick={() => onToggle('camera')}
      />
    </>
  );
}
