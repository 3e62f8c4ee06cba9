/** What carries pictures, sounds and messages between this page and those of the others. */
import type { PageMessage } from './chat.ts';
import type { TrackKind } from './kinds.ts';
import type { MeetingMedia, Peer, PeerInfo, PeerStats } from './types.ts';

export type Carrier = {
  /** ID of the participant who speaks or spoke last. */
  readonly speaker: number | null;
  describe(): Peer[];
  /** Carries by these media from now on; by nothing if they are of another kind. */
  setMedia(media: MeetingMedia | null): void;
  /** Follows the list of the service. Nothing is sent to or received from those who are no longer in it. */
  setPeers(infos: readonly PeerInfo[]): void;
  /** Takes a signal of another page. */
  receive(from: number, connectionId: string, data: string): void;
  /** Sends a message to everybody who is connected. */
  send(message: PageMessage): void;
  /** Sends what is to be sent of a kind now. */
  applyTrack(kind: TrackKind): Promise<void>;
  /** The network of this page has changed. */
  repairNow(): void;
  /** The service can be reached again. */
  retrySignals(): void;
  getStats(): Promise<Map<number, PeerStats>>;
  /** The level of a microphone at this moment, 0 to 1. */
  readLevel(id: number): number;
  close(): void;
};

export type CarrierOptions = {
  /** Participant ID of this page. */
  ownId: number;
  /** What to send of a kind. */
  sent(kind: TrackKind): MediaStreamTrack | null;
  onChange(): void;
  onMessage(from: PeerInfo, message: PageMessage): void;
};
