/** The sound of a recording: that of everybody, mixed into one track. */
import type { RecordedPerson } from './types.ts';

export type SoundMixer = {
  readonly track: MediaStreamTrack;
  /** Mixes the sounds of these people from now on. */
  update(people: readonly RecordedPerson[]): void;
  close(): void;
};

/** A browser without sound output, or that blocks sound, never begins to mix: the recording would wait forever. */
const START_MS = 3_000;

/**
 * Call it in the handler of a click, or the browser may block it. Resolves when it mixes; with null if the browser does
 * not.
 */
export async function createSoundMixer(): Promise<SoundMixer | null> {
  const context = new AudioContext();
  const timeout = new Promise((resolve) => setTimeout(resolve, START_MS));
  await Promise.race([context.resume(), timeout]).catch(() => {});
  if (context.state !== 'running') {
    void context.close();
    return null;
  }
  const output = context.createMediaStreamDestination();
  const [track] = output.stream.getAudioTracks();
  if (track === undefined) throw new Error('This browser cannot mix the sound of the recording');
  // Silence, so that there is a sound track from the start, also while nobody has a microphone.
  const silence = context.createConstantSource();
  silence.offset.value = 0;
  silence.connect(output);
  silence.start();
  const sources = new Map<string, MediaStreamAudioSourceNode>();
  return {
    track,
    update(people) {
      const tracks = people
        .flatMap(({ microphone, screenAudio }) => [microphone, screenAudio])
        .filter((sound): sound is MediaStreamTrack => sound?.readyState === 'live');
      for (const sound of tracks) {
        if (sources.has(sound.id)) continue;
        const source = context.createMediaStreamSource(new MediaStream([sound]));
        source.connect(output);
        sources.set(sound.id, source);
      }
      const ids = new Set(tracks.map(({ id }) => id));
      for (const [id, source] of sources) {
        if (ids.has(id)) continue;
        source.disconnect();
        sources.delete(id);
      }
    },
    close: () => void context.close(),
  };
}
