import type { EndReason, MeetingMedia } from '@lynxroom/client/meeting';
import { Button } from '../components/Button.tsx';
import { ErrorNote } from '../components/ErrorPanel.tsx';
import { PageFrame } from './PageFrame.tsx';
import type { Room } from './types.ts';

const ENDS: Record<EndReason, string> = {
  left: 'You have left the room.',
  refused: 'A host did not let you in.',
  removed: 'A host has removed you from this room.',
  closed: 'A host has closed the meeting.',
  deleted: 'This room was deleted.',
  error: 'Your visit has ended.',
};

type EndedProps = { room: Room; reason: EndReason; error: unknown; onJoinAgain: () => void };

/** After the visit. */
export function Ended({ room, reason, error, onJoinAgain }: EndedProps) {
  return (
    <PageFrame title={room.display_name ?? room.name} color={room.accent_color}>
      <p role="status">{ENDS[reason]}</p>
      {reason === 'error' && error !== null && <ErrorNote error={error} />}
      {reason !== 'deleted' && <Button onClick={onJoinAgain}>Join again</Button>}
      <a href="/" className="link w-fit">
        Go to the start page
      </a>
    </PageFrame>
  );
}

type FullProps = { room: Room; media: MeetingMedia | null; onLeave: () => void };

/** The person is in the room, but has no place in the meeting yet. */
export function Full({ room, media, onLeave }: FullProps) {
  const places = media !== null && media.kind !== 'none' ? ` All ${media.max_participants} places are taken.` : '';
  return (
    <PageFrame title={room.display_name ?? room.name} color={room.accent_color}>
      <p role="status">
        This meeting is full.{places} Stay on this page: you join by yourself as soon as somebody leaves.
      </p>
      <Button onClick={onLeave}>Leave</Button>
    </PageFrame>
  );
}

type ElsewhereProps = { room: Room; onComeBack: () => void };

/** Another page of the same person carries their pictures and sounds now. */
export function Elsewhere({ room, onComeBack }: ElsewhereProps) {
  return (
    <PageFrame title={room.display_name ?? room.name} color={room.accent_color}>
      <p role="status">You continued elsewhere. This page sends and receives nothing any more.</p>
      <Button tone="primary" onClick={onComeBack}>
        Come back here
      </Button>
    </PageFrame>
  );
}
