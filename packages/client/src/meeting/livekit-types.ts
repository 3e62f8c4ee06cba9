/** The part of `livekit-client` that a meeting uses, so that the module of a page fits without being a dependency. */

/** The sources of LiveKit, as `Track.Source` names them. */
export type LivekitSource = 'microphone' | 'camera' | 'screen_share' | 'screen_share_audio';

export type LivekitTrack = {
  readonly mediaStreamTrack: MediaStreamTrack;
  /** `paused` while the server leaves a picture out, because the connection is too slow. */
  readonly streamState: string;
  getRTCStatsReport(): Promise<RTCStatsReport | undefined>;
};

export type LivekitPublication = {
  readonly track?: LivekitTrack | undefined;
  readonly isMuted: boolean;
  /** The layer of the picture that the server sends: 0 is the smallest, 2 the largest. */
  setVideoQuality(quality: number): void;
};

export type LivekitParticipant = {
  readonly identity: string;
  /** The level of the microphone, 0 to 1. */
  readonly audioLevel: number;
  getTrackPublication(source: string): LivekitPublication | undefined;
};

export type LivekitLocalPublication = {
  readonly source: string;
  readonly isMuted: boolean;
  readonly track?:
    | {
        readonly mediaStreamTrack: MediaStreamTrack;
        replaceTrack(track: MediaStreamTrack, options: { userProvidedTrack: boolean }): Promise<unknown>;
      }
    | undefined;
  mute(): Promise<unknown>;
  unmute(): Promise<unknown>;
};

export type LivekitLocalParticipant = {
  publishTrack(
    track: MediaStreamTrack,
    options?: { source?: string; simulcast?: boolean },
  ): Promise<LivekitLocalPublication>;
  unpublishTrack(track: MediaStreamTrack, stopOnUnpublish: boolean): Promise<unknown>;
  publishData(data: Uint8Array<ArrayBuffer>, options: { reliable: boolean; topic: string }): Promise<void>;
};

export type LivekitRoomEvent =
  | 'reconnecting'
  | 'reconnected'
  | 'disconnected'
  | 'participantConnected'
  | 'participantDisconnected'
  | 'trackSubscribed'
  | 'trackUnsubscribed'
  | 'trackUnmuted'
  | 'trackStreamStateChanged';

export type LivekitRoom = {
  readonly state: string;
  readonly remoteParticipants: ReadonlyMap<string, LivekitParticipant>;
  readonly localParticipant: LivekitLocalParticipant;
  connect(url: string, token: string): Promise<void>;
  disconnect(stopTracks: boolean): Promise<void>;
  on(event: LivekitRoomEvent, listener: () => void): unknown;
  on(event: 'trackMuted', listener: (publication: object, participant: object) => void): unknown;
  on(
    event: 'dataReceived',
    listener: (data: Uint8Array, participant?: { readonly identity: string }, kind?: unknown, topic?: string) => void,
  ): unknown;
};

/** What `import('livekit-client')` resolves with. */
export type LivekitClient = {
  Room: new (options: {
    adaptiveStream: boolean;
    dynacast: boolean;
    stopLocalTrackOnUnpublish: boolean;
    disconnectOnPageLeave: boolean;
  }) => LivekitRoom;
};
