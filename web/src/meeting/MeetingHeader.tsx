import type { MeetingSnapshot } from '@lynxroom/client/meeting';
import { Keyboard, Lock, Settings } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../components/Badge.tsx';
import { IconButton } from '../components/Button.tsx';
import { Dialog } from '../components/Dialog.tsx';
import { LanguagePicker } from '../languages/LanguagePicker.tsx';
import { useTexts } from '../languages/texts.ts';
import { DeviceFields } from './DeviceFields.tsx';
import { FaultNotes } from './FaultNotes.tsx';
import type { LocalMedia, LocalMediaState } from './local-media.ts';
import { ShortcutsDialog } from './ShortcutsDialog.tsx';
import type { Room } from './types.ts';

type MeetingHeaderProps = {
  title: string;
  room: Room;
  snapshot: MeetingSnapshot;
  media: LocalMedia;
  state: LocalMediaState;
  isHelpOpen: boolean;
  onHelp: (isOpen: boolean) => void;
};

/** The name of the room, and what is not needed in every meeting. */
export function MeetingHeader({ title, room, snapshot, media, state, isHelpOpen, onHelp }: MeetingHeaderProps) {
  const { write } = useTexts();
  const [isChoosing, setIsChoosing] = useState(false);
  const hasFault = state.faults.microphone !== null || state.faults.camera !== null;
  return (
    <header className="flex shrink-0 items-center gap-2 border-b border-line bg-page px-3 py-1 sm:px-4">
      {/* Decoration: text in a color that a user chose may be unreadable. */}
      <span aria-hidden className="size-3 shrink-0 rounded-full" style={{ background: room.accent_color }} />
      <h1 title={title} className="min-w-0 flex-1 truncate font-semibold">
        {title}
      </h1>
      {snapshot.participant?.room_locked === 1 && (
        <Badge tone="warning">
          <Lock aria-hidden size={14} /> {write('meeting.lockedBadge')}
        </Badge>
      )}
      <IconButton
        label={write('page.keys')}
        icon={<Keyboard aria-hidden size={18} />}
        className="max-sm:hidden"
        onClick={() => onHelp(true)}
      />
      <IconButton
        label={write('device.devices')}
        icon={<Settings aria-hidden size={18} className={hasFault ? 'text-danger-text' : ''} />}
        onClick={() => setIsChoosing(true)}
      />
      {isHelpOpen && <ShortcutsDialog onClose={() => onHelp(false)} />}
      {isChoosing && (
        <Dialog onClose={() => setIsChoosing(false)} title={write('device.devices')}>
          <FaultNotes faults={state.faults} />
          <DeviceFields media={media} state={state} />
          <LanguagePicker />
        </Dialog>
      )}
    </header>
  );
}
