/** Keeps a participant present: the stream, which is opened again whenever it is lost, and the heartbeats. */
import { isLynxroomError } from '@lynxroom/client';
import { watchPage } from './page-events.ts';
import type { PageState, PresenceAnswer, Service, StreamMessage } from './service.ts';
import type { EndReason } from './types.ts';

export type VisitOptions = {
  service: Service;
  token: string;
  connectionId: string;
  /** The state of this page at the moment. */
  readPage(): PageState;
  /** Whether a host still has to admit the participant. */
  isWaiting(): boolean;
  onMessage(message: StreamMessage): void;
  onPresence(answer: PresenceAnswer): void;
  /** The stream was opened or lost. */
  onConnection(isOpen: boolean): void;
  /** This page has another network than before. */
  onNetworkChange(): void;
  /** Another page of the participant carries their media. */
  onReplaced(): void;
  onEnd(reason: EndReason, error: Error | null): void;
};

const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 2_000;
/** A page that nobody sees need not come back so fast. */
const MAX_HIDDEN_RETRY_MS = 10_000;
/** A stream that was open for so long has worked. */
const STABLE_MS = 5_000;
/** How long a stream may take to open. */
const OPEN_TIMEOUT_MS = 6_000;
/** The service considers a participant gone after five minutes without a heartbeat. */
const HEARTBEAT_MS = 20_000;
/** Without a stream, only the heartbeat says that a host has admitted the participant. */
const WAITING_HEARTBEAT_MS = 3_000;

export class Visit {
  readonly #options: VisitOptions;
  #isStopped = false;
  #stream: { unsubscribe(): void } | null = null;
  #isOpen = false;
  #openedAt = 0;
  #failures = 0;
  /** Counts the streams, so that an earlier one is no longer listened to. */
  #attempt = 0;
  #streamTimer: ReturnType<typeof setTimeout> | undefined;
  #heartbeatTimer: ReturnType<typeof setTimeout> | undefined;
  #heartbeat: Promise<void> | null = null;
  /** Whether the service knows the page, so that it takes the state of it. */
  #isListed = false;
  #isHeartbeatDue = false;
  #unwatch: () => void = () => {};

  constructor(options: VisitOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  start(): void {
    this.#unwatch = watchPage({
      onNetworkChange: () => {
        this.reconnect();
        this.#options.onNetworkChange();
      },
      onShown: () => {
        if (!this.#isOpen) this.reconnect();
        this.sendHeartbeat();
      },
    });
    this.#openStream();
    this.sendHeartbeat();
  }

  stop(): void {
    this.#isStopped = true;
    this.#unwatch();
    clearTimeout(this.#heartbeatTimer);
    this.#closeStream();
  }

  /** Opens the stream again at once. */
  reconnect(): void {
    if (this.#isStopped) return;
    this.#failures = 0;
    this.#setOpen(false);
    this.#openStream();
  }

  /** Tells the service the state of the page at once, and again every 20 seconds. */
  sendHeartbeat(): void {
    this.#isHeartbeatDue = true;
    this.#heartbeat ??= this.#sendHeartbeats().finally(() => {
      this.#heartbeat = null;
    });
  }

  #openStream(): void {
    this.#closeStream();
    const { service, token, connectionId, onMessage } = this.#options;
    this.#attempt += 1;
    const attempt = this.#attempt;
    const isCurrent = (): boolean => attempt === this.#attempt && !this.#isStopped;
    this.#streamTimer = setTimeout(() => this.#lose(), OPEN_TIMEOUT_MS);
    this.#stream = service.openStream(token, connectionId, {
      onOpen: () => {
        if (!isCurrent()) return;
        clearTimeout(this.#streamTimer);
        this.#openedAt = performance.now();
        // The service may have lost the state of the page in a crash.
        this.#isListed = false;
        this.#setOpen(true);
      },
      onLost: () => {
        if (isCurrent()) this.#lose();
      },
      onMessage: (message) => {
        if (!isCurrent()) return;
        onMessage(message);
        if (message.event !== 'peers' || this.#isListed) return;
        this.#isListed = true;
        this.sendHeartbeat();
      },
      onError: (error) => {
        if (isCurrent() && !this.#endBy(error)) this.#lose();
      },
    });
  }

  #closeStream(): void {
    // What ending the stream reports is no longer listened to.
    this.#attempt += 1;
    clearTimeout(this.#streamTimer);
    this.#stream?.unsubscribe();
    this.#stream = null;
  }

  #lose(): void {
    this.#closeStream();
    if (this.#isOpen && performance.now() - this.#openedAt > STABLE_MS) this.#failures = 0;
    this.#setOpen(false);
    const maxMs = document.visibilityState === 'visible' ? MAX_RETRY_MS : MAX_HIDDEN_RETRY_MS;
    const waitMs = Math.min(MIN_RETRY_MS * 2 ** this.#failures, maxMs);
    this.#failures += 1;
    this.#streamTimer = setTimeout(() => this.#openStream(), waitMs * (0.75 + Math.random() / 4));
    if (this.#options.isWaiting()) this.#scheduleHeartbeat();
  }

  #setOpen(isOpen: boolean): void {
    if (isOpen === this.#isOpen) return;
    this.#isOpen = isOpen;
    this.#options.onConnection(isOpen);
  }

  /** What changes during a heartbeat needs another one. */
  async #sendHeartbeats(): Promise<void> {
    const { service, token, connectionId, readPage, onPresence } = this.#options;
    while (this.#isHeartbeatDue && !this.#isStopped) {
      this.#isHeartbeatDue = false;
      try {
        const page = this.#isListed ? { connection_id: connectionId, ...readPage() } : {};
        const answer = await service.sendPresence(token, page);
        if (!this.#isStopped) onPresence(answer);
      } catch (error) {
        if (this.#isStopped || this.#endBy(error)) return;
        // The stream may be broken too, without having noticed.
        if (!isLynxroomError(error) && this.#isOpen) this.reconnect();
      }
    }
    if (!this.#isStopped) this.#scheduleHeartbeat();
  }

  #scheduleHeartbeat(): void {
    clearTimeout(this.#heartbeatTimer);
    const isUrgent = this.#options.isWaiting() && !this.#isOpen;
    this.#heartbeatTimer = setTimeout(() => this.sendHeartbeat(), isUrgent ? WAITING_HEARTBEAT_MS : HEARTBEAT_MS);
  }

  /** Ends the visit if the service has refused it for good. Returns whether it has. */
  #endBy(error: unknown): boolean {
    if (!isLynxroomError(error) || error.status >= 500 || [408, 425, 429].includes(error.status)) return false;
    const { onReplaced, onEnd } = this.#options;
    if (error.code === 'CONNECTION_REPLACED') onReplaced();
    // The page is not listed any more, and will be when the stream is open.
    else if (error.status === 409) return false;
    else if (error.code === 'PARTICIPANT_REMOVED') onEnd('removed', null);
    else if (error.status === 404) onEnd('deleted', null);
    else onEnd('error', error);
    return true;
  }
}
