import type { MeetingMedia } from '@lynxroom/client/meeting';

/** Whether something else than this page carries the meeting, so that the page only says who is there. */
export function isCarriedElsewhere(media: MeetingMedia | null | undefined): boolean {
  return media?.kind === 'none' || media?.kind === 'livekit';
}
