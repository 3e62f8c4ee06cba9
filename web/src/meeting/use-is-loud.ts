import { useEffect, useState } from 'react';
import { watchLevel } from './audio-levels.ts';

/** Breath and fans are quieter. */
const LOUD = 0.02;
/** Pauses between words are shorter. */
const HOLD_MS = 800;

/** Whether something is heard on a track now. */
export function useIsLoud(track: MediaStreamTrack | null): boolean {
  const [isLoud, setIsLoud] = useState(false);
  useEffect(() => {
    if (track === null) return setIsLoud(false);
    let lastAt = Number.NEGATIVE_INFINITY;
    return watchLevel(track, (level) => {
      const now = performance.now();
      if (level > LOUD) lastAt = now;
      setIsLoud(now - lastAt < HOLD_MS);
    });
  }, [track]);
  return isLoud;
}
