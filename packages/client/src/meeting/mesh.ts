/** All other participants, and what is done with them together. */
import type { Carrier } from './carrier.ts';
import type { PageMessage } from './chat.ts';
import type { TrackKind } from './kinds.ts';
import { Member, type MemberOptions } from './member.ts';
import { STEP_MS } from './quality.ts';
import { SpeakerWatch } from './speaker.ts';
import type { MeetingMedia, Peer, PeerInfo, PeerStats } from './types.ts';

const TICK_MS = 500;
/** Signals of pages that the list does not have yet, and for how long they wait for it. */
const MAX_EARLY_SIGNALS = 100;
const MAX_EARLY_MS = 10_000;

type EarlySignal = { from: number; connectionId: string; data: string; at: number };

export class Mesh implements Carrier {
  readonly #options: MemberOptions;
  readonly #members = new Map<number, Member>();
  readonly #speakers: SpeakerWatch;
  #infos: readonly PeerInfo[] = [];
  #configuration: RTCConfiguration | null = null;
  #early: EarlySignal[] = [];
  #timers: ReturnType<typeof setInterval>[] = [];

  constructor(options: MemberOptions) {
    this.#options = options;
    const readLevels = (): Map<number, number> => {
      const now = performance.now();
      return new Map([...this.#members].map(([id, member]) => [id, member.readLevel(now)]));
    };
    this.#speakers = new SpeakerWatch(readLevels, options.onChange);
  }

  get speaker(): number | null {
    return this.#speakers.speaker;
  }

  describe(): Peer[] {
    return this.#infos.flatMap(({ id }) => {
      const member = this.#members.get(id);
      return member ? [member.describe(this.#speakers.isSpeaking(id))] : [];
    });
  }

  /** Connects to everybody in the mesh by these servers, or to nobody. */
  setMedia(media: MeetingMedia | null): void {
    if (media?.kind !== 'mesh') {
      this.#configuration = null;
    } else {
      const iceServers = media.ice_servers.map((server) => ({ ...server, urls: [...server.urls] }));
      this.#configuration = { iceServers, iceTransportPolicy: media.ice_transport_policy, bundlePolicy: 'max-bundle' };
    }
    this.setPeers(this.#infos);
    const configuration = this.#configuration;
    if (configuration) for (const member of this.#members.values()) void member.configure(configuration);
  }

  /** Follows the list of the service. Connections to those who are no longer in it are closed at once. */
  setPeers(infos: readonly PeerInfo[]): void {
    this.#infos = infos;
    const ids = new Set(infos.map(({ id }) => id));
    for (const [id, member] of this.#members) {
      if (ids.has(id)) continue;
      member.close();
      this.#members.delete(id);
    }
    for (const info of infos) {
      const member = this.#members.get(info.id) ?? new Member(info, this.#options);
      this.#members.set(info.id, member);
      member.update(info, this.#configuration);
    }
    this.#run(this.#configuration !== null && infos.length > 0);
    const early = this.#early;
    this.#early = [];
    for (const signal of early) this.receive(signal.from, signal.connectionId, signal.data, signal.at);
    this.#limit();
    this.#options.onChange();
  }

  /** Signals may arrive before the list that has their sender. */
  receive(from: number, connectionId: string, data: string, at: number = performance.now()): void {
    const member = this.#members.get(from);
    if (member?.connectionId === connectionId) member.receive(connectionId, data);
    else if (performance.now() - at <= MAX_EARLY_MS)
      this.#early = [...this.#early, { from, connectionId, data, at }].slice(-MAX_EARLY_SIGNALS);
  }

  send(message: PageMessage): void {
    for (const member of this.#members.values()) member.send(message);
  }

  async applyTrack(kind: TrackKind): Promise<void> {
    await Promise.all([...this.#members.values()].map((member) => member.applyTrack(kind)));
    this.#limit();
  }

  /** The network of this page has changed: nothing that worked may still work. */
  repairNow(): void {
    for (const member of this.#members.values()) member.repairNow();
  }

  /** The service can be reached again. */
  retrySignals(): void {
    for (const member of this.#members.values()) member.retrySignals();
  }

  async getStats(): Promise<Map<number, PeerStats>> {
    const entries = [...this.#members].map(async ([id, member]) => [id, await member.getStats()] as const);
    const stats = new Map<number, PeerStats>();
    for (const [id, one] of await Promise.all(entries)) if (one) stats.set(id, one);
    return stats;
  }

  readLevel(id: number): number {
    return this.#members.get(id)?.readLevel(performance.now()) ?? 0;
  }

  close(): void {
    this.#early = [];
    this.#configuration = null;
    this.setPeers([]);
    this.#speakers.forget();
  }

  #run(isNeeded: boolean): void {
    if (isNeeded === this.#timers.length > 0) return;
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = !isNeeded
      ? []
      : [setInterval(() => this.#tick(), TICK_MS), setInterval(() => this.#adapt(), STEP_MS)];
    if (isNeeded) this.#speakers.start();
    else this.#speakers.stop();
  }

  #tick(): void {
    const now = performance.now();
    this.#early = this.#early.filter(({ at }) => now - at <= MAX_EARLY_MS);
    for (const member of this.#members.values()) member.tick(now);
  }

  #adapt(): void {
    for (const member of this.#members.values()) void member.adapt(this.#countPeople());
  }

  #limit(): void {
    for (const member of this.#members.values()) void member.limit(this.#countPeople());
  }

  /** Those to whom this page sends, and itself. */
  #countPeople(): number {
    return 1 + [...this.#members.values()].filter(({ connectionId }) => connectionId !== null).length;
  }
}
