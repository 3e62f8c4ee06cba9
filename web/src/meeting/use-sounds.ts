import type { Peer } from '@lynxroom/client/meeting';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { createSounds, type Sounds } from './sounds.ts';

/** Plays the microphones and the shared sounds of all peers as long as the component is shown. */
export function useSounds(peers: readonly Peer[], speaker: string | null): { sounds: Sounds; isBlocked: boolean } {
  const [sounds] = useState(createSounds);
  const isBlocked = useSyncExternalStore(sounds.subscribe, sounds.isBlocked);
  useEffect(() => {
    const tracks = new Map<string, MediaStreamTrack>();
    for (const { id, microphone, screenAudio } of peers) {
      if (microphone !== null) tracks.set(`${id} microphone`, microphone);
      if (screenAudio !== null) tracks.set(`${id} screen`, screenAudio);
    }
    sounds.play(tracks);
  }, [sounds, peers]);
  useEffect(() => {
    if (speaker !== null) sounds.chooseSpeaker(speaker);
  }, [sounds, speaker]);
  useEffect(() => () => sounds.play(new Map()), [sounds]);
  return { sounds, isBlocked };
}
