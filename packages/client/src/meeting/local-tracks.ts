/** The tracks of this page. */
import { forEachKind, type TrackKind, trackKinds } from './kinds.ts';
import type { LocalTrack } from './types.ts';

export class LocalTracks {
  #tracks: Record<TrackKind, LocalTrack> = forEachKind(() => ({ track: null, isMuted: false }));
  readonly #onChange: (kind: TrackKind) => void;

  /** `onChange` is called when what is to be sent of a kind has changed. */
  constructor(onChange: (kind: TrackKind) => void) {
    this.#onChange = onChange;
  }

  get all(): Readonly<Record<TrackKind, LocalTrack>> {
    return this.#tracks;
  }

  /** What is sent: nothing while muted. */
  sent(kind: TrackKind): MediaStreamTrack | null {
    const { track, isMuted } = this.#tracks[kind];
    return isMuted ? null : track;
  }

  isOn(kind: TrackKind): boolean {
    return this.sent(kind) !== null;
  }

  set(kind: TrackKind, track: MediaStreamTrack | null): void {
    const { track: earlier, isMuted } = this.#tracks[kind];
    if (track === earlier) return;
    earlier?.removeEventListener('ended', this.#removeEnded);
    track?.addEventListener('ended', this.#removeEnded);
    if (track) track.enabled = !isMuted;
    this.#replace(kind, { track, isMuted });
  }

  setMuted(kind: TrackKind, isMuted: boolean): void {
    const { track, isMuted: wasMuted } = this.#tracks[kind];
    if (isMuted === wasMuted) return;
    if (track) track.enabled = !isMuted;
    this.#replace(kind, { track, isMuted });
  }

  /** Stops and forgets all tracks, so that no camera stays on after a meeting. */
  stop(): void {
    for (const kind of trackKinds) {
      this.#tracks[kind].track?.stop();
      this.set(kind, null);
    }
  }

  /** A device was pulled out, or the browser was told to share the screen no more. */
  #removeEnded = ({ target }: Event): void => {
    for (const kind of trackKinds) if (this.#tracks[kind].track === target) this.set(kind, null);
  };

  #replace(kind: TrackKind, next: LocalTrack): void {
    this.#tracks = { ...this.#tracks, [kind]: next };
    this.#onChange(kind);
  }
}
