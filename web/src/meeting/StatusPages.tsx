import type { EndReason, MeetingMedia } from '@lynxroom/client/meeting';
import type { TextKey } from '../../../src/languages/catalogue.ts';
import { Button } from '../components/Button.tsx';
import { ErrorNote } from '../components/ErrorPanel.tsx';
import { useTexts } from '../languages/texts.ts';
import { isEmbedded } from '../lib/embedded.ts';
import { PageFrame } from './PageFrame.tsx';
import type { Room } from './types.ts';

const ENDS = {
  left: 'room.left',
  refused: 'room.refused',
  removed: 'room.removed',
  closed: 'room.closed',
  deleted: 'room.deleted',
  error: 'room.ended',
} as const satisfies Record<EndReason, TextKey>;

type EndedProps = { room: Room; reason: EndReason; error: unknown; onJoinAgain: () => void };

/** After the visit. */
export function Ended({ room, reason, error, onJoinAgain }: EndedProps) {
  const { write } = useTexts();
  return (
    <PageFrame title={room.display_name ?? room.name} color={room.accent_color} branding={room.branding}>
      <p role="status">{write(ENDS[reason])}</p>
      {reason === 'error' && error !== null && <ErrorNote error={error} />}
      {reason !== 'deleted' && <Button onClick={onJoinAgain}>{write('room.joinAgain')}</Button>}
      {!isEmbedded && (
        <a href="/" className="link w-fit">
          {write('page.startPage')}
        </a>
      )}
    </PageFrame>
  );
}

type FullProps = { room: Room; media: MeetingMedia | null; onLeave: () => void };

/** The person is in the room, but has no place in the meeting yet. */
export function Full({ room, media, onLeave }: FullProps) {
  const { write } = useTexts();
  const hasPlaces = media?.kind === 'full';
  return (
    <PageFrame title={room.display_name ?? room.name} color={room.accent_color} branding={room.branding}>
      <p role="status">
        {hasPlaces ? write('room.allTaken', { count: media.max_participants }) : write('room.isFull')}{' '}
        {write('room.stayWhileFull')}
      </p>
      <Button onClick={onLeave}>{write('room.leave')}</Button>
    </PageFrame>
  );
}

type ElsewhereProps = { room: Room; onComeBack: () => void };

/** Another page of the same person carries their pictures and sounds now. */
export function Elsewhere({ room, onComeBack }: ElsewhereProps) {
  const { write } = useTexts();
  return (
    <PageFrame title={room.display_name ?? room.name} color={room.accent_color} branding={room.branding}>
      <p role="status">{write('room.elsewhere')}</p>
      <Button tone="primary" onClick={onComeBack}>
        {write('room.comeBack')}
      </Button>
    </PageFrame>
  );
}
