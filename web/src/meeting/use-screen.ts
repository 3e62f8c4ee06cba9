import type { Meeting, MeetingSnapshot } from '@lynxroom/client/meeting';
import { useEffect, useRef, useState } from 'react';
import { useTexts } from '../languages/texts.ts';
import { showError } from '../lib/toasts.ts';
import type { SharedScreen } from './Tiles.tsx';

/** Phones cannot share their screen. */
const canShare = 'getDisplayMedia' in (navigator.mediaDevices ?? {});

/** Text matters more than motion, and every peer gets a stream of its own. */
const PICTURE: MediaTrackConstraints = { width: { max: 1920 }, height: { max: 1080 }, frameRate: { max: 15 } };

const INSIDE: ReadonlySet<string> = new Set(['joined', 'reconnecting']);

export type ScreenShare = { isSharing: boolean; toggle: () => void };

/** Shares the screen of this browser; null where it cannot. */
export function useScreenShare(meeting: Meeting, { local }: MeetingSnapshot): ScreenShare | null {
  const { track } = local.screen;
  const { write } = useTexts();
  const isAsking = useRef(false);
  if (!canShare) return null;

  async function start(): Promise<void> {
    if (isAsking.current) return;
    isAsking.current = true;
    try {
      const stream = await navigator.mediaDevices.getDisplayMedia({ video: PICTURE, audio: true });
      // The person has left, or was removed, while the browser asked.
      if (!INSIDE.has(meeting.state)) {
        for (const track of stream.getTracks()) track.stop();
        return;
      }
      const [screen = null] = stream.getVideoTracks();
      const [sound = null] = stream.getAudioTracks();
      if (screen !== null) screen.contentHint = 'detail';
      await Promise.all([meeting.setTrack('screen', screen), meeting.setTrack('screenAudio', sound)]);
    } catch (error) {
      // The person has closed the browser's question, or the system does not allow it.
      const isRefused = error instanceof DOMException && ['NotAllowedError', 'AbortError'].includes(error.name);
      if (!isRefused) showError(write('meeting.screenNotShared'), error);
    } finally {
      isAsking.current = false;
    }
  }

  async function stop(): Promise<void> {
    for (const kind of ['screen', 'screenAudio'] as const) {
      local[kind].track?.stop();
      await meeting.setTrack(kind, null);
    }
  }

  return { isSharing: track !== null, toggle: () => void (track === null ? start() : stop()) };
}

/** The screens that others share, the newest first. The person can choose another one. */
export function useSharedScreens({ peers }: MeetingSnapshot): {
  screens: readonly SharedScreen[];
  shown: SharedScreen | null;
  choose: (participantId: number) => void;
} {
  const [order, setOrder] = useState<readonly number[]>([]);
  const screens = peers.flatMap(({ id, name, screen }) =>
    screen === null ? [] : [{ participantId: id, name, track: screen }],
  );
  const ids = screens.map(({ participantId }) => participantId).join();
  useEffect(() => {
    const current = ids === '' ? [] : ids.split(',').map(Number);
    setOrder((last) => [...current.filter((id) => !last.includes(id)), ...last.filter((id) => current.includes(id))]);
  }, [ids]);
  const placeOf = ({ participantId }: SharedScreen): number => order.indexOf(participantId);
  const sorted = screens.toSorted((a, b) => placeOf(a) - placeOf(b));
  return {
    screens: sorted,
    shown: sorted[0] ?? null,
    choose: (participantId) => setOrder((last) => [participantId, ...last.filter((id) => id !== participantId)]),
  };
}
