/**
 * A LiveKit server carries the media. Who is in the meeting, and what they say about their devices, still comes from
 * the service: of those on the server, only the listed pages are shown and heard.
 */
import type { Carrier, CarrierOptions } from './carrier.ts';
import { MessageReader, type PageMessage } from './chat.ts';
import { type TrackKind, trackKinds } from './kinds.ts';
import { pageKey, readIdentity } from './livekit-identity.ts';
import { LivekitPublisher, sources } from './livekit-publisher.ts';
import type { LivekitClient, LivekitParticipant, LivekitRoom } from './livekit-types.ts';
import { addReceived, nothingReceived } from './received-stats.ts';
import { SpeakerWatch } from './speaker.ts';
import type { MeetingMedia, Peer, PeerInfo, PeerState, PeerStats } from './types.ts';

export type LivekitOptions = CarrierOptions & {
  load(): Promise<LivekitClient>;
  /** The server has muted a track of this page, because a host has asked it to. */
  onMuted(kind: TrackKind): void;
  onError(error: Error): void;
};

type LivekitMedia = Extract<MeetingMedia, { kind: 'livekit' }>;
type Connection = { room: LivekitRoom; publisher: LivekitPublisher };

const TICK_MS = 1_000;
const MIN_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** Messages of other programs on the same server have other topics. */
const TOPIC = 'lynxroom';
/** A character of JSON has at most three bytes in UTF-8. */
const MAX_MESSAGE_BYTES = 40_000;
/** How many people may send the largest pictures, and pictures of middle size. */
const [MAX_LARGE, MAX_MIDDLE] = [4, 9];

export class LivekitCarrier implements Carrier {
  readonly #options: LivekitOptions;
  readonly #speakers: SpeakerWatch;
  readonly #readers = new Map<number, MessageReader>();
  #infos: readonly PeerInfo[] = [];
  #media: LivekitMedia | null = null;
  #connection: Connection | null = null;
  /** The pages that have been connected, so that a page says that it is connecting again. */
  #known = new Set<string>();
  #failures = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #tickTimer: ReturnType<typeof setInterval> | undefined;

  constructor(options: LivekitOptions) {
    this.#options = options;
    this.#speakers = new SpeakerWatch(
      () => new Map(this.#infos.map(({ id }) => [id, this.readLevel(id)])),
      options.onChange,
    );
  }

  get speaker(): number | null {
    return this.#speakers.speaker;
  }

  describe(): Peer[] {
    const pages = this.#readPages();
    return this.#infos.map((info) => this.#describePeer(info, pages.get(keyOf(info) ?? '')));
  }

  /** A newer token of the same server is for the next connection: the present one outlives its own. */
  setMedia(media: MeetingMedia | null): void {
    const url = this.#media?.url;
    this.#media = media?.kind === 'livekit' ? media : null;
    if (this.#media?.url === url) return;
    this.#disconnect();
    if (this.#media === null) return;
    this.#speakers.start();
    this.#tickTimer = setInterval(() => this.#tick(), TICK_MS);
    void this.#connect();
  }

  setPeers(infos: readonly PeerInfo[]): void {
    this.#infos = infos;
    const ids = new Set(infos.map(({ id }) => id));
    for (const id of this.#readers.keys()) if (!ids.has(id)) this.#readers.delete(id);
    this.#limit();
    this.#options.onChange();
  }

  /** Pages send each other no signals here. */
  receive(): void {}

  send(message: PageMessage): void {
    const data = new TextEncoder().encode(JSON.stringify(message));
    // As with a channel that is closed: while this page is not connected, nobody gets the message.
    void this.#connection?.room.localParticipant.publishData(data, { reliable: true, topic: TOPIC }).catch(() => {});
  }

  async applyTrack(kind: TrackKind): Promise<void> {
    await this.#connection?.publisher.apply(kind);
  }

  /** LiveKit's client notices another network itself. A connection that it has given up is made at once. */
  repairNow(): void {
    if (this.#connection !== null || this.#media === null) return;
    this.#failures = 0;
    void this.#connect();
  }

  retrySignals(): void {
    this.repairNow();
  }

  /** Only what is received: a page sends to the server, and not to each peer. */
  async getStats(): Promise<Map<number, PeerStats>> {
    const pages = this.#readPages();
    const stats = new Map<number, PeerStats>();
    for (const info of this.#infos) {
      const participant = pages.get(keyOf(info) ?? '');
      if (participant === undefined) continue;
      let received = nothingReceived;
      for (const kind of trackKinds) {
        const report = await participant.getTrackPublication(sources[kind])?.track?.getRTCStatsReport();
        if (report) received = addReceived(received, kind, report);
      }
      stats.set(info.id, received);
    }
    return stats;
  }

  readLevel(id: number): number {
    const info = this.#infos.find((one) => one.id === id);
    if (!info?.microphone) return 0;
    return Math.min(1, this.#readPages().get(keyOf(info) ?? '')?.audioLevel ?? 0);
  }

  close(): void {
    this.#media = null;
    this.#infos = [];
    this.#readers.clear();
    this.#disconnect();
  }

  async #connect(): Promise<void> {
    clearTimeout(this.#retryTimer);
    const url = this.#media?.url;
    let connection: Connection | null = null;
    try {
      const { Room } = await this.#options.load();
      if (this.#media === null || this.#media.url !== url || this.#connection !== null) return;
      // The tracks are those of the page, which decides when they end and when it leaves. The page shows them itself,
      // so that LiveKit cannot see how large they are.
      const room = new Room({
        adaptiveStream: false,
        dynacast: true,
        stopLocalTrackOnUnpublish: false,
        disconnectOnPageLeave: false,
      });
      connection = { room, publisher: new LivekitPublisher(room, this.#options.sent) };
      this.#connection = connection;
      this.#listen(connection);
      await room.connect(this.#media.url, this.#media.token);
      if (connection !== this.#connection) return leaveRoom(connection);
      this.#failures = 0;
      this.#tick();
    } catch (error) {
      if (connection === null) this.#options.onError(toError(error));
      // Another connection was begun meanwhile, or none is needed any more.
      if (connection === this.#connection) this.#retry();
    }
  }

  #listen(connection: Connection): void {
    const { room, publisher } = connection;
    const isCurrent = (): boolean => connection === this.#connection;
    const changed = (): void => {
      if (!isCurrent()) return;
      for (const key of this.#readPages().keys()) this.#known.add(key);
      this.#limit();
      this.#options.onChange();
    };
    room.on('participantConnected', changed);
    room.on('participantDisconnected', changed);
    room.on('trackSubscribed', changed);
    room.on('trackUnsubscribed', changed);
    room.on('trackUnmuted', changed);
    room.on('trackStreamStateChanged', changed);
    room.on('reconnecting', changed);
    room.on('reconnected', changed);
    room.on('trackMuted', (publication) => {
      const kind = publisher.kindOf(publication);
      if (isCurrent() && kind !== null && this.#options.sent(kind) !== null) this.#options.onMuted(kind);
      changed();
    });
    room.on('dataReceived', (data, participant, _kind, topic) => {
      if (isCurrent() && participant !== undefined && topic === TOPIC) this.#read(participant.identity, data);
    });
    room.on('disconnected', () => {
      if (isCurrent()) this.#retry();
    });
  }

  /** Whether the visit goes on is for the service to say. Until then, this page connects again. */
  #retry(): void {
    this.#connection = null;
    if (this.#media === null) return;
    const waitMs = Math.min(MIN_RETRY_MS * 2 ** this.#failures, MAX_RETRY_MS);
    this.#failures += 1;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => void this.#connect(), waitMs * (0.75 + Math.random() / 4));
    this.#options.onChange();
  }

  #disconnect(): void {
    const connection = this.#connection;
    this.#connection = null;
    clearTimeout(this.#retryTimer);
    clearInterval(this.#tickTimer);
    this.#speakers.stop();
    this.#speakers.forget();
    this.#known.clear();
    this.#failures = 0;
    if (connection) leaveRoom(connection);
  }

  /** What the server has refused is tried again. */
  #tick(): void {
    for (const kind of trackKinds) void this.#connection?.publisher.apply(kind);
  }

  #read(identity: string, data: Uint8Array): void {
    const key = readIdentity(identity);
    const info = this.#infos.find((one) => key !== null && keyOf(one) === key);
    if (info === undefined || data.length > MAX_MESSAGE_BYTES) return;
    const reader = this.#readers.get(info.id) ?? new MessageReader();
    this.#readers.set(info.id, reader);
    const message = reader.read(new TextDecoder().decode(data), performance.now());
    if (message !== null) this.#options.onMessage(info, message);
  }

  /** Asks the server for smaller pictures as people join, since a page shows all of them. */
  #limit(): void {
    const people = this.#infos.filter(({ connection_id }) => connection_id !== null).length;
    const quality = people <= MAX_LARGE ? 2 : people <= MAX_MIDDLE ? 1 : 0;
    for (const participant of this.#readPages().values()) {
      const publication = participant.getTrackPublication(sources.camera);
      if (publication?.track !== undefined) publication.setVideoQuality(quality);
    }
  }

  #readPages(): Map<string, LivekitParticipant> {
    const pages = new Map<string, LivekitParticipant>();
    for (const participant of this.#connection?.room.remoteParticipants.values() ?? []) {
      const key = readIdentity(participant.identity);
      if (key !== null) pages.set(key, participant);
    }
    return pages;
  }

  #describePeer(info: PeerInfo, participant: LivekitParticipant | undefined): Peer {
    const { id, name, is_host, is_member, microphone, camera, screen, recording } = info;
    const publicationOf = (kind: TrackKind) => participant?.getTrackPublication(sources[kind]);
    const track = (kind: TrackKind, isOn: unknown): MediaStreamTrack | null => {
      const publication = publicationOf(kind);
      return isOn && publication && !publication.isMuted ? (publication.track?.mediaStreamTrack ?? null) : null;
    };
    return {
      id,
      name,
      isHost: Boolean(is_host),
      isMember: Boolean(is_member),
      isRecording: Boolean(recording),
      hasMicrophone: Boolean(microphone),
      hasCamera: Boolean(camera),
      hasScreen: Boolean(screen),
      state: this.#stateOf(keyOf(info), participant),
      isSpeaking: this.#speakers.isSpeaking(id),
      isCameraPaused: Boolean(camera) && publicationOf('camera')?.track?.streamState === 'paused',
      microphone: track('microphone', microphone),
      camera: track('camera', camera),
      screen: track('screen', screen),
      screenAudio: track('screenAudio', screen),
    };
  }

  #stateOf(key: string | null, participant: LivekitParticipant | undefined): PeerState {
    if (key === null || this.#media === null) return 'away';
    if (participant !== undefined && this.#connection?.room.state === 'connected') return 'connected';
    return this.#known.has(key) ? 'reconnecting' : 'connecting';
  }
}

function keyOf({ id, connection_id }: PeerInfo): string | null {
  return connection_id === null ? null : pageKey(id, connection_id);
}

/** A server that cannot be told notices itself that the page is gone. */
function leaveRoom({ room }: Connection): void {
  void room.disconnect(false).catch(() => {});
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
