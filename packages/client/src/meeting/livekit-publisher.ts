/** Sends the tracks of this page to one connection with a LiveKit server. */
import { type TrackKind, trackKinds } from './kinds.ts';
import type { LivekitLocalPublication, LivekitRoom, LivekitSource } from './livekit-types.ts';

export const sources: Readonly<Record<TrackKind, LivekitSource>> = {
  microphone: 'microphone',
  camera: 'camera',
  screen: 'screen_share',
  screenAudio: 'screen_share_audio',
};

export class LivekitPublisher {
  readonly #room: LivekitRoom;
  readonly #sent: (kind: TrackKind) => MediaStreamTrack | null;
  readonly #publications = new Map<TrackKind, LivekitLocalPublication>();
  /** Changes are made one after another, since each takes an answer of the server. */
  #last: Promise<void> = Promise.resolve();

  constructor(room: LivekitRoom, sent: (kind: TrackKind) => MediaStreamTrack | null) {
    this.#room = room;
    this.#sent = sent;
  }

  /** Sends what is to be sent of a kind. A failure leaves what was sent before, and the next call tries again. */
  apply(kind: TrackKind): Promise<void> {
    this.#last = this.#last.then(() => this.#apply(kind)).catch(() => {});
    return this.#last;
  }

  /** The kind of a publication of this page; null for what is sent no more. */
  kindOf(publication: object): TrackKind | null {
    return trackKinds.find((kind) => this.#publications.get(kind) === publication) ?? null;
  }

  async #apply(kind: TrackKind): Promise<void> {
    const track = this.#sent(kind);
    const publication = this.#publications.get(kind);
    const { localParticipant } = this.#room;
    if (this.#room.state !== 'connected') return;
    if (publication?.track === undefined) {
      if (track === null) return;
      const options = { source: sources[kind], simulcast: kind === 'camera' };
      this.#publications.set(kind, await localParticipant.publishTrack(track, options));
    } else if (track === null) {
      // People mute and unmute often, and publishing takes a negotiation.
      if (kind === 'microphone') {
        if (!publication.isMuted) await publication.mute();
      } else {
        this.#publications.delete(kind);
        await localParticipant.unpublishTrack(publication.track.mediaStreamTrack, false);
      }
    } else {
      if (publication.track.mediaStreamTrack !== track)
        await publication.track.replaceTrack(track, { userProvidedTrack: true });
      if (publication.isMuted) await publication.unmute();
    }
  }
}
