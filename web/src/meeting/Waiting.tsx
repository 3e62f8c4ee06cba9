import type { MeetingParticipant } from '@lynxroom/client/meeting';
import { Badge } from '../components/Badge.tsx';
import { Button } from '../components/Button.tsx';
import { useTexts } from '../languages/texts.ts';
import type { LocalMedia, LocalMediaState } from './local-media.ts';
import { PageFrame } from './PageFrame.tsx';
import { Preview } from './Preview.tsx';
import { RecordingNotice } from './RecordingNotice.tsx';
import { whoWillSee } from './recording-texts.ts';
import type { Room } from './types.ts';

type WaitingProps = {
  room: Room;
  participant: MeetingParticipant | null;
  media: LocalMedia;
  state: LocalMediaState;
  onLeave: () => void;
};

/** While a host decides. Nobody sees or hears the person yet. */
export function Waiting({ room, participant, media, state, onLeave }: WaitingProps) {
  const { write } = useTexts();
  const message = participant?.waiting_room_message ?? null;
  return (
    <PageFrame title={room.display_name ?? room.name} color={room.accent_color} branding={room.branding}>
      <div role="status" className="flex flex-col gap-3">
        <p className="flex items-center gap-2">
          <Badge tone="accent">{write('room.waiting')}</Badge>
          <span className="text-muted">{participant?.name}</span>
        </p>
        <p>{write('room.hostWillAdmit')}</p>
        {message !== null && (
          <blockquote className="m-0 border-s-4 border-line ps-3 whitespace-pre-wrap">{message}</blockquote>
        )}
      </div>
      {room.recorded === 1 && <RecordingNotice name={room.recorded_by} whoWillSee={write(whoWillSee(room))} />}
      <Preview media={media} state={state} />
      <p className="text-sm text-muted">{write('room.notSeenYet')}</p>
      <Button onClick={onLeave}>{write('room.stopWaiting')}</Button>
    </PageFrame>
  );
}
