/** The public types of a meeting. Everything is read-only: methods of `Meeting` change it, and `change` reports it. */

import type { LivekitClient } from './livekit-types.ts';
import type { TrackKind } from './track-kind.ts';

/**
 * - `idle`: not joined yet. A refused `join()` returns here.
 * - `joining`: `join()` is under way.
 * - `waiting`: a host has to admit the participant.
 * - `joined`: in the meeting. `media.kind` says whether this module carries its pictures and sounds.
 * - `reconnecting`: joined, but without a connection to the service. Pictures and sounds go on where they can.
 * - `elsewhere`: another page of the participant carries their media now; `comeBack()` takes it again.
 * - `full`: joined, but as many as the mesh holds carry media already. It becomes `joined` when somebody leaves.
 * - `ended`: the visit has ended, see `endReason`. `join()` begins another one.
 */
export type MeetingState = 'idle' | 'joining' | 'waiting' | 'joined' | 'reconnecting' | 'elsewhere' | 'full' | 'ended';

/**
 * - `left`: left, here or on another page, or gone for so long that the service ended the visit.
 * - `refused`: a host did not admit the participant.
 * - `removed`: a host removed the participant.
 * - `closed`: a host closed the meeting.
 * - `deleted`: the room was deleted.
 * - `error`: the service no longer knows the visit, for example because its token has become invalid.
 */
export type EndReason = 'left' | 'refused' | 'removed' | 'closed' | 'deleted' | 'error';

/** The participant of this meeting. Times are Unix timestamps in seconds, and flags 0 or 1. */
export type MeetingParticipant = {
  readonly id: number;
  readonly name: string;
  /** null for a guest and for a person with a pass; absent from a service of an earlier version. */
  readonly user_id?: number | null;
  readonly status: 'waiting' | 'joined' | 'refused' | 'left';
  readonly is_host: number;
  readonly is_member: number;
  readonly room_locked: number;
  /** 1 or 0 if the pass of the person says so; null or absent if the room decides. */
  readonly may_record?: number | null;
  readonly waiting_room_message: string | null;
  readonly joined_at: number | null;
};

/** A server for ICE, as `RTCPeerConnection` takes it. */
export type IceServer = { readonly urls: readonly string[]; readonly username?: string; readonly credential?: string };

/**
 * How the participant takes part: browser to browser, on a LiveKit server, not at all because it is full, or by other
 * means. This module carries the media of `mesh`, and those of `livekit` with `MeetingOptions.loadLivekit`.
 */
export type MeetingMedia =
  | {
      readonly kind: 'mesh';
      readonly ice_servers: readonly IceServer[];
      /** `relay`: no participant learns the address of another one. */
      readonly ice_transport_policy: 'all' | 'relay';
      readonly max_participants: number;
      /** When the credentials of the servers end, in Unix seconds; null if they do not end. The module renews them. */
      readonly credentials_expire_at: number | null;
    }
  | {
      readonly kind: 'livekit';
      /**
       * The URL and the token that `Room.connect` of `livekit-client` takes. The module renews the token. With
       * `loadLivekit` it connects, and the token is for this page.
       */
      readonly url: string;
      readonly token: string;
      /** In Unix seconds. */
      readonly token_expires_at: number;
      /** 1 if the server records what this participant starts with `egress: 1`; absent from an earlier version. */
      readonly egress?: number;
    }
  | { readonly kind: 'full'; readonly max_participants: number }
  | { readonly kind: 'none' };

/** The recording that runs in the room. `participant_id` is null if a host started it from outside of the meeting. */
export type RunningRecording = {
  readonly id: number;
  readonly participant_id: number | null;
  readonly name: string | null;
  readonly started_at: number;
};

/** A recording that has failed although people believed to be recorded. */
export type FailedRecording = RunningRecording & { readonly failed_at: number };

/**
 * - `away`: joined, but without a page that carries media, for example while a page loads again.
 * - `connecting`: the first connection is being made.
 * - `connected`: pictures and sounds arrive.
 * - `reconnecting`: the connection is broken, and is being made again.
 */
export type PeerState = 'away' | 'connecting' | 'connected' | 'reconnecting';

/** Another participant. The object never changes: after a `change` there is a new one. */
export type Peer = {
  /** Participant ID. It stays the same when they reload their page. */
  readonly id: number;
  readonly name: string;
  readonly isHost: boolean;
  readonly isMember: boolean;
  readonly isRecording: boolean;
  /** Whether their microphone, camera and screen are on, as they say. */
  readonly hasMicrophone: boolean;
  readonly hasCamera: boolean;
  readonly hasScreen: boolean;
  readonly state: PeerState;
  /** Whether they speak, by the level of what was received. */
  readonly isSpeaking: boolean;
  /** Whether their camera is on, but is not sent to this page because the connection is too slow for it. */
  readonly isCameraPaused: boolean;
  /** What is received of them. null if there is no connection, or what it would carry is off. */
  readonly microphone: MediaStreamTrack | null;
  readonly camera: MediaStreamTrack | null;
  readonly screen: MediaStreamTrack | null;
  /** The sound of the screen. It is silence if they share none. */
  readonly screenAudio: MediaStreamTrack | null;
};

/** A track of this page. A muted one is kept, but not sent. */
export type LocalTrack = { readonly track: MediaStreamTrack | null; readonly isMuted: boolean };

/** Everything that a page shows, at one moment. It never changes: after a `change` there is a new one. */
export type MeetingSnapshot = {
  readonly state: MeetingState;
  /** Why the visit ended; null unless `state` is `ended`. */
  readonly endReason: EndReason | null;
  /** The own participant; null before the first `join()`. */
  readonly participant: MeetingParticipant | null;
  /** null unless joined. */
  readonly media: MeetingMedia | null;
  readonly recording: RunningRecording | null;
  /** The newest recording that failed, if this participant was there while it ran and none has started since. */
  readonly failedRecording: FailedRecording | null;
  /** Whether hosts allow the chat. */
  readonly isChatEnabled: boolean;
  /** The other joined participants, in the order in which they joined. */
  readonly peers: readonly Peer[];
  /** ID of the participant who speaks or spoke last; null if nobody has spoken yet or they have left. */
  readonly speaker: number | null;
  readonly local: Readonly<Record<TrackKind, LocalTrack>>;
};

/** A joined participant, as the stream of the service lists them. Flags are 0 or 1. */
export type PeerInfo = {
  readonly id: number;
  readonly name: string;
  readonly is_host: number;
  readonly is_member: number;
  /** Their page that carries media; null if there is none. */
  readonly connection_id: string | null;
  readonly microphone: number;
  readonly camera: number;
  readonly screen: number;
  readonly recording: number;
};

export type ChatMessage = {
  /** Unique on this page. */
  readonly id: string;
  /** Participant ID and name of the sender. */
  readonly from: { readonly id: number; readonly name: string };
  /** Plain text of 1 to 2,000 characters. It comes from another person: never put it into a page as HTML. */
  readonly text: string;
  /** When it was sent or arrived here, in milliseconds as by `Date.now()`. */
  readonly at: number;
  readonly isOwn: boolean;
};

/** The statistics of the connection to one peer, since the connection was made. */
export type PeerStats = {
  readonly bytesSent: number;
  readonly bytesReceived: number;
  readonly packetsReceived: number;
  readonly packetsLost: number;
  /** Seconds; null until it was measured. */
  readonly roundTripTime: number | null;
  /** Pictures of camera and screen together that were decoded. */
  readonly framesDecoded: number;
  /** Pictures of the camera alone, and its size in pixels as it arrives. */
  readonly cameraFramesDecoded: number;
  readonly frameWidth: number;
  readonly frameHeight: number;
  /** The energy of the received sound, as `totalAudioEnergy` of WebRTC: it grows only while something is heard. */
  readonly audioEnergy: number;
  /** Kinds of the candidates in use, such as `host` or `relay`; null while not connected. */
  readonly candidatePair: { readonly local: string; readonly remote: string } | null;
  /** What this page sends of its camera: 0 is everything that the number of people allows, 3 is no picture. */
  readonly sentLevel: number;
};

/** The listeners of `Meeting.on`, by event. */
export type MeetingEvents = {
  /** Something in `snapshot` has changed. At most ten times a second. */
  change: (snapshot: MeetingSnapshot) => void;
  /** A message of the chat has arrived, or was sent here. */
  chat: (message: ChatMessage) => void;
  /** The host with this name asks everybody to mute themselves. Nothing is muted by this. */
  'mute-requested': (request: { readonly name: string }) => void;
  /**
   * The LiveKit server has muted this track of the page, because a host has asked it to. It stays muted until
   * `setMuted` sends it again.
   */
  muted: (kind: TrackKind) => void;
  /** Something failed that the module cannot repair. The state says what goes on nevertheless. */
  error: (error: Error) => void;
};

export type MeetingOptions = {
  roomName: string;
  /** Required for a guest, who joins without a session. */
  name?: string | undefined;
  /** The address of a guest, which only hosts see. */
  email?: string | undefined;
  /**
   * The token of an earlier `join()` of this person, see `Meeting.token`. With it, a page that is loaded again comes
   * back as the same participant, and does not wait again. Or the token of a link (`lnj_...`), which names the person
   * and works once.
   */
  token?: string | undefined;
  /** Identifies the page: 8 to 64 characters of `[A-Za-z0-9_-]`, new for each load. Default: a random one. */
  connectionId?: string | undefined;
  /**
   * Loads `livekit-client`: `() => import('livekit-client')`. Needed where a LiveKit server carries the media, and
   * called only then. Without it, the page has to connect to the server itself, by `media`.
   */
  loadLivekit?: (() => Promise<LivekitClient>) | undefined;
  /** Base URL of the service. It is only used by `leaveOnUnload()`. Default: the origin of the page. */
  url?: string | undefined;
};

/**
 * A meeting as one page takes part in it. It sends and receives nothing before `join()`. Its methods do not depend on
 * `this`.
 */
export type Meeting = MeetingSnapshot & {
  /** What a page shows, as one object that changes with each `change`; the properties of the meeting are the same. */
  readonly snapshot: MeetingSnapshot;
  /**
   * The token of the visit; null before the first `join()`. Keep it in `sessionStorage`, and give it to the next
   * meeting that a reload creates.
   */
  readonly token: string | null;
  /** Identifies this page among those of the participant. `comeBack()` makes a new one. */
  readonly connectionId: string;
  /** Adds a listener. Returns a function that removes it. */
  on<Event extends keyof MeetingEvents>(event: Event, listener: MeetingEvents[Event]): () => void;
  /**
   * Joins the room, or asks to. Resolves when the service has answered: the state is then `joined`, `waiting` or
   * `full`. Rejects with the LynxroomError of the service, such as `ROOM_LOCKED`, and the state is `idle` again. A call
   * during a visit does nothing.
   */
  join(): Promise<void>;
  /**
   * Sends `track` from now on, or nothing. It can be called before `join()`, and replaces a track without a pause. The
   * tracks belong to the page: the module never stops one, except those that `leave()` and the end of the visit stop,
   * and a track that ends by itself is taken away.
   */
  setTrack(kind: TrackKind, track: MediaStreamTrack | null): Promise<void>;
  /** Sends the track of this kind no more, or again. A muted track has `enabled` false. The next track is muted too. */
  setMuted(kind: TrackKind, isMuted: boolean): void;
  /**
   * Sends a message to all connected peers. It is not stored anywhere, so who joins later never sees it. Returns the
   * message, which `chat` reports too. Throws RangeError unless it has 1 to 2,000 characters, and Error while not
   * joined, while hosts have switched the chat off, and for too many messages at once.
   */
  sendChat(text: string): ChatMessage;
  /** The statistics of each connected peer, by participant ID. On a LiveKit server, only of what is received. */
  getStats(): Promise<ReadonlyMap<number, PeerStats>>;
  /** The level of a peer's microphone at this moment, 0 to 1. */
  getAudioLevel(participantId: number): number;
  /** Takes the media back to this page, after another page took it (`elsewhere`). Does nothing in other states. */
  comeBack(): Promise<void>;
  /**
   * Ends the visit: closes all connections, stops the local tracks, and tells the service. The state is `ended` at
   * once; resolves when the service knows. If it cannot be told, the service ends the visit after some minutes.
   */
  leave(): Promise<void>;
  /**
   * As `leave()`, by a request that outlives the page. Call it on `pagehide` if the user really leaves, and never for a
   * reload: who leaves gives up their place.
   */
  leaveOnUnload(): void;
};
