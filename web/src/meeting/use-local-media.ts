import { useEffect, useState, useSyncExternalStore } from 'react';
import { createLocalMedia, type LocalMedia, type LocalMediaState } from './local-media.ts';

/** The camera and the microphone, from now until the page is left. */
export function useLocalMedia(): { media: LocalMedia; state: LocalMediaState } {
  const [media] = useState(createLocalMedia);
  const state = useSyncExternalStore(media.subscribe, media.getState);
  useEffect(() => {
    void media.start();
    return () => media.stop();
  }, [media]);
  return { media, state };
}
