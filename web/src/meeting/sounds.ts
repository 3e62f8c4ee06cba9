/** Plays what the others say. Elements of their own, since a tile may disappear while its person is still heard. */

export type Sounds = {
  /** Plays these tracks, by any key, and no others. */
  play(tracks: ReadonlyMap<string, MediaStreamTrack>): void;
  /** Plays on this device from now on. */
  chooseSpeaker(deviceId: string): void;
  /** Tries again to play what the browser has blocked. To be called in the handler of a gesture. */
  resume(): void;
  /** Whether the browser plays nothing before a gesture of the person. */
  isBlocked(): boolean;
  subscribe(listener: () => void): () => void;
};

/** Whether the browser lets a page choose where its sounds are played. */
export const canChooseSpeaker = 'setSinkId' in HTMLMediaElement.prototype;

export function createSounds(): Sounds {
  const elements = new Map<string, { track: MediaStreamTrack; audio: HTMLAudioElement }>();
  const listeners = new Set<() => void>();
  let speaker: string | null = null;
  let isBlocked = false;

  function setBlocked(value: boolean): void {
    if (isBlocked === value) return;
    isBlocked = value;
    // Any gesture on the page allows sound, not only that on the button.
    for (const gesture of ['pointerup', 'keyup']) {
      if (value) addEventListener(gesture, resume);
      else removeEventListener(gesture, resume);
    }
    for (const listener of listeners) listener();
  }

  async function start(audio: HTMLAudioElement): Promise<void> {
    try {
      await audio.play();
      setBlocked(false);
    } catch (error) {
      // Other errors only say that the track was replaced meanwhile.
      if (error instanceof DOMException && error.name === 'NotAllowedError') setBlocked(true);
    }
  }

  function resume(): void {
    for (const { audio } of elements.values()) void start(audio);
  }

  function open(track: MediaStreamTrack): HTMLAudioElement {
    const audio = new Audio();
    audio.srcObject = new MediaStream([track]);
    choose(audio);
    void start(audio);
    return audio;
  }

  /** A speaker that was unplugged leaves the sound where the system plays it. */
  function choose(audio: HTMLAudioElement): void {
    if (canChooseSpeaker && speaker !== null) audio.setSinkId(speaker).catch(() => undefined);
  }

  return {
    play(tracks) {
      for (const [key, { track, audio }] of elements) {
        if (tracks.get(key) === track) continue;
        audio.srcObject = null;
        elements.delete(key);
      }
      for (const [key, track] of tracks) if (!elements.has(key)) elements.set(key, { track, audio: open(track) });
      if (elements.size === 0) setBlocked(false);
    },
    chooseSpeaker(deviceId) {
      speaker = deviceId;
      for (const { audio } of elements.values()) choose(audio);
    },
    resume,
    isBlocked: () => isBlocked,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
