/** The servers that the connections use, and when their credentials are replaced. */
import { waitForRenewal } from './credentials.ts';
import type { MeetingMedia } from './types.ts';

export class MediaInUse {
  #media: MeetingMedia | null = null;
  /** By how much the clock of the service is ahead of this page's, in milliseconds. */
  #offset = 0;
  /** By `performance.now()`. */
  #renewAt = Number.POSITIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #onChange: (media: MeetingMedia | null) => void;
  readonly #onDue: () => void;

  /** `onDue` is called when other credentials are needed, until `offer` gets some. */
  constructor(onChange: (media: MeetingMedia | null) => void, onDue: () => void) {
    this.#onChange = onChange;
    this.#onDue = onDue;
  }

  get current(): MeetingMedia | null {
    return this.#media;
  }

  /** Learns the time of the service from a message, as the clock of this page may be wrong. */
  setTime(timestamp: string): void {
    const offset = Date.parse(timestamp) - Date.now();
    if (Number.isNaN(offset) || Math.abs(offset - this.#offset) < 1_000) return;
    this.#offset = offset;
    this.#schedule();
  }

  /**
   * Takes what the service offers now. It may have new credentials each time. Those of relays are only used if those in
   * use end soon: using others interrupts nothing, but makes relayed connections be negotiated again.
   */
  offer(media: MeetingMedia | null): void {
    const isRenewal = performance.now() >= this.#renewAt && expiryOf(media) !== expiryOf(this.#media);
    const isSame = withoutCredentials(media) === withoutCredentials(this.#media);
    // Not those for a LiveKit server: they are for the next connection, which may need a secret that was rotated.
    if (isSame && !isRenewal && (media?.kind !== 'livekit' || this.#isInUse(media.token))) return;
    this.#media = media;
    this.#schedule();
    this.#onChange(media);
  }

  #isInUse(token: string): boolean {
    return this.#media?.kind === 'livekit' && this.#media.token === token;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#media = null;
    this.#renewAt = Number.POSITIVE_INFINITY;
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const expiresAt = expiryOf(this.#media);
    const waitMs = waitForRenewal(expiresAt === null ? null : expiresAt * 1_000, Date.now() + this.#offset);
    this.#renewAt = waitMs === null ? Number.POSITIVE_INFINITY : performance.now() + waitMs;
    if (waitMs === null) return;
    this.#timer = setTimeout(() => {
      this.#onDue();
      // The answer may be lost, or the same as before.
      this.#schedule();
      this.#renewAt = performance.now();
    }, waitMs);
  }
}

function expiryOf(media: MeetingMedia | null): number | null {
  if (media?.kind === 'livekit') return media.token_expires_at;
  return media?.kind === 'mesh' ? media.credentials_expire_at : null;
}

function withoutCredentials(media: MeetingMedia | null): string {
  if (media?.kind === 'livekit') return media.url;
  if (media?.kind !== 'mesh') return JSON.stringify(media);
  const { ice_servers, ice_transport_policy, max_participants } = media;
  return JSON.stringify([ice_servers.map(({ urls }) => urls), ice_transport_policy, max_participants]);
}
