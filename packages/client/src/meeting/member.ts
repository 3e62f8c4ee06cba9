/** Another participant as this page sees them, with the connection to their page, if there is one. */
import type { CarrierOptions } from './carrier.ts';
import { MessageReader, type PageMessage } from './chat.ts';
import type { TrackKind } from './kinds.ts';
import { Link } from './link.ts';
import { measure, type Reports, readReports, toPeerStats, usesRelay } from './link-stats.ts';
import { firstQuality, limitCamera, limitScreen, type PictureLimits, type Quality, stepQuality } from './quality.ts';
import { SignalReader } from './signal-data.ts';
import { SignalQueue } from './signal-queue.ts';
import type { Peer, PeerInfo, PeerStats } from './types.ts';

export type MemberOptions = CarrierOptions & {
  /** Sends a signal to a page of a participant. */
  post(to: number, toConnectionId: string, data: string): Promise<unknown>;
  onRefused(error: Error): void;
};

/** Without a page on the other side, a connection that works is kept for so long: the service may have restarted. */
const MAX_AWAY_MS = 15_000;
/** A reading of a level that is older says nothing. */
const MAX_LEVEL_AGE_MS = 600;

export class Member {
  info: PeerInfo;
  readonly #options: MemberOptions;
  #connectionId: string | null = null;
  #link: Link | null = null;
  #queue: SignalQueue | null = null;
  #reader = new SignalReader();
  readonly #messages = new MessageReader();
  #quality: Quality = firstQuality;
  #measured: Reports | null = null;
  #isCameraPaused = false;
  #awaySince: number | null = null;
  #people = 2;
  #levelAt = { timestamp: 0, seenAt: 0 };

  constructor(info: PeerInfo, options: MemberOptions) {
    this.info = info;
    this.#options = options;
  }

  get connectionId(): string | null {
    return this.#connectionId;
  }

  get isConnected(): boolean {
    return this.#link?.state === 'connected';
  }

  /** Follows the list of the service: connects to the page of the participant, or to their next one. */
  update(info: PeerInfo, configuration: RTCConfiguration | null): void {
    this.info = info;
    const next = configuration === null ? null : info.connection_id;
    if (next === null && configuration !== null && this.isConnected) {
      this.#awaySince ??= performance.now();
      return;
    }
    this.#awaySince = null;
    if (next !== null && next === this.#connectionId) return;
    this.close();
    if (next !== null && configuration !== null) this.#connect(next, configuration);
  }

  /** Signals of another page than the one that is connected are ignored. */
  receive(connectionId: string, data: string): void {
    if (connectionId !== this.#connectionId) return;
    const signal = this.#reader.read(data);
    if (signal) this.#link?.receive(signal);
  }

  send(message: PageMessage): boolean {
    return this.#link?.sendMessage(JSON.stringify(message)) ?? false;
  }

  applyTrack(kind: TrackKind): Promise<void> {
    return this.#link?.applyTrack(kind) ?? Promise.resolve();
  }

  /** Uses new servers. If this side is relayed, it moves to them before the old credentials end. */
  async configure(configuration: RTCConfiguration): Promise<void> {
    const link = this.#link;
    if (!link) return;
    link.configure(configuration, false);
    const reports = await readReports(link);
    if (reports && usesRelay(reports) && link === this.#link) link.restart();
  }

  /** The network has changed, or the service can be reached again. */
  repairNow(): void {
    this.#queue?.retryNow();
    if (this.#link && this.#link.pc.connectionState !== 'new') this.#link.restart();
  }

  retrySignals(): void {
    this.#queue?.retryNow();
  }

  tick(now: number): void {
    if (this.#awaySince !== null && (now - this.#awaySince > MAX_AWAY_MS || !this.isConnected)) {
      this.close();
      this.#options.onChange();
    }
    this.#link?.tick(now);
  }

  /** Measures the connection, and sends fewer or more pixels. `people` counts everybody. */
  async adapt(people: number): Promise<void> {
    const link = this.#link;
    if (!link || !this.isConnected) return;
    const reports = await readReports(link);
    if (!reports || link !== this.#link) return;
    const { level } = this.#quality;
    this.#quality = stepQuality(this.#quality, measure(link, reports, this.#measured), people);
    this.#measured = reports;
    if (level !== this.#quality.level) this.#options.onChange();
    await this.limit(people);
  }

  async limit(people: number): Promise<void> {
    this.#people = people;
    const link = this.#link;
    if (!link) return;
    const { level } = this.#quality;
    const camera = link.transceiver('camera')?.sender;
    const screen = link.transceiver('screen')?.sender;
    const height = camera?.track?.getSettings().height ?? 720;
    if (camera) await applyLimits(camera, limitCamera(people, level, height));
    if (screen) await applyLimits(screen, limitScreen(people, level));
    // Said again each time, because messages are lost while the channel is closed.
    this.send({ type: 'camera', isPaused: level === 3 });
  }

  /** The level of the microphone, 0 to 1. */
  readLevel(now: number): number {
    const [source] = this.#link?.transceiver('microphone')?.receiver.getSynchronizationSources() ?? [];
    if (!source || !this.isConnected || !this.info.microphone) return 0;
    // The last reading stays when nothing arrives any more.
    if (source.timestamp !== this.#levelAt.timestamp) this.#levelAt = { timestamp: source.timestamp, seenAt: now };
    return now - this.#levelAt.seenAt > MAX_LEVEL_AGE_MS ? 0 : Math.min(1, source.audioLevel ?? 0);
  }

  async getStats(): Promise<PeerStats | null> {
    const link = this.#link;
    const reports = link && (await readReports(link));
    return reports ? toPeerStats(link, reports, this.#quality.level) : null;
  }

  describe(isSpeaking: boolean): Peer {
    const { id, name, is_host, is_member, microphone, camera, screen, recording } = this.info;
    const track = (kind: TrackKind, isOn: unknown) => (isOn ? (this.#link?.track(kind) ?? null) : null);
    return {
      id,
      name,
      isHost: Boolean(is_host),
      isMember: Boolean(is_member),
      isRecording: Boolean(recording),
      hasMicrophone: Boolean(microphone),
      hasCamera: Boolean(camera),
      hasScreen: Boolean(screen),
      state: this.#link?.state ?? 'away',
      isSpeaking,
      isCameraPaused: Boolean(camera) && this.#isCameraPaused,
      microphone: track('microphone', microphone),
      camera: track('camera', camera),
      screen: track('screen', screen),
      screenAudio: track('screenAudio', screen),
    };
  }

  close(): void {
    this.#queue?.close();
    this.#link?.close();
    [this.#link, this.#queue, this.#connectionId, this.#awaySince] = [null, null, null, null];
  }

  #connect(connectionId: string, configuration: RTCConfiguration): void {
    const { ownId, sent, post, onChange, onRefused } = this.#options;
    const { id } = this.info;
    const queue = new SignalQueue({ post: (data) => post(id, connectionId, data), onRefused });
    this.#connectionId = connectionId;
    this.#queue = queue;
    this.#reader = new SignalReader();
    this.#quality = firstQuality;
    this.#measured = null;
    this.#isCameraPaused = false;
    this.#link = new Link({
      configuration,
      sent,
      onChange: () => {
        onChange();
        if (this.isConnected) void this.limit(this.#people);
      },
      isInitiator: ownId < id,
      send: (signal) => queue.add(signal),
      onMessage: (data) => this.#handleMessage(data),
    });
  }

  #handleMessage(data: unknown): void {
    const message = this.#messages.read(data, performance.now());
    if (message?.type === 'camera' && message.isPaused !== this.#isCameraPaused) {
      this.#isCameraPaused = message.isPaused;
      this.#options.onChange();
    }
    if (message?.type === 'chat') this.#options.onMessage(this.info, message);
  }
}

async function applyLimits(sender: RTCRtpSender, limits: PictureLimits): Promise<void> {
  const parameters = sender.getParameters();
  const [encoding] = parameters.encodings ?? [];
  // Not negotiated yet.
  if (!encoding) return;
  const { isActive: active, maxBitrate, scaleDownBy: scaleResolutionDownBy, maxFramerate } = limits;
  const wanted = { active, maxBitrate, scaleResolutionDownBy, maxFramerate };
  if (Object.entries(wanted).every(([name, value]) => Reflect.get(encoding, name) === value)) return;
  Object.assign(encoding, wanted);
  // Fails if the connection was negotiated again meanwhile. The next step applies the limits.
  await sender.setParameters(parameters).catch(() => {});
}
