/**
 * An `EventSource` on top of `fetch`, for subscriptions. Unlike the browsers' own, it exists everywhere, can send a
 * token, and also reconnects after a temporary error from a proxy.
 */
import { LynxroomError } from './errors.ts';

type SentEvent = { type: string; data: string; lastEventId: string };
type Listener = (event: SentEvent | LynxroomError) => void;

export type EventSourceOptions = {
  fetch: typeof globalThis.fetch;
  credentials: NonNullable<RequestInit['credentials']>;
  headers(): Promise<Record<string, string>>;
};

const MAX_RETRY_MS = 30_000;
/** A longer `Retry-After` is treated as this. */
const MAX_RETRY_AFTER_MS = 300_000;
/** The statuses below 500 after which the same request may succeed later. */
const PASSING_STATUSES = [408, 425, 429];

/**
 * The response of `url` must be a stream of Server-Sent Events. The class implements the part of the standard that tRPC
 * uses. A permanent error status, such as 403, ends the source: the error event is then a LynxroomError.
 */
export class FetchEventSource {
  readonly CONNECTING = 0;
  readonly OPEN = 1;
  readonly CLOSED = 2;
  readyState = 0;
  #listeners = new Map<string, Set<Listener>>();
  #controller = new AbortController();
  #lastEventId = '';
  #retryMs = 1_000;
  #failures = 0;

  constructor(url: string, options: EventSourceOptions) {
    void this.#run(url, options);
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, (this.#listeners.get(type) ?? new Set()).add(listener));
  }

  removeEventListener(type: string, listener: Listener): void {
    this.#listeners.get(type)?.delete(listener);
  }

  close(): void {
    this.readyState = this.CLOSED;
    this.#controller.abort();
  }

  async #run(url: string, options: EventSourceOptions): Promise<void> {
    while (this.readyState !== this.CLOSED) {
      const retryAfterMs = await this.#connect(url, options).catch(() => 0);
      if (this.readyState === this.CLOSED) return;
      this.readyState = this.CONNECTING;
      this.#dispatch('error', { type: 'error', data: '', lastEventId: '' });
      const waitMs = Math.min(this.#retryMs * 2 ** this.#failures, MAX_RETRY_MS);
      this.#failures += 1;
      await this.#wait(retryAfterMs + waitMs * (0.5 + Math.random() / 2));
    }
  }

  /** Ends early when the source is closed. */
  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#controller.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Resolves when the connection has ended, with how long the response asks to wait. */
  async #connect(url: string, { fetch, credentials, headers }: EventSourceOptions): Promise<number> {
    const response = await fetch(url, {
      credentials,
      headers: {
        ...(await headers()),
        accept: 'text/event-stream',
        ...(this.#lastEventId !== '' && { 'last-event-id': this.#lastEventId }),
      },
      cache: 'no-store',
      signal: this.#controller.signal,
    });
    if (!response.ok || response.body === null) return this.#refuse(response);
    this.readyState = this.OPEN;
    this.#failures = 0;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const blocks = (text + part.value).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) this.#read(block);
    }
    return 0;
  }

  /** Ends the source if the error status is permanent. Otherwise returns how long the response asks to wait. */
  async #refuse(response: Response): Promise<number> {
    const { status, headers } = response;
    const body = await response.json().catch(() => null);
    if (status >= 400 && status < 500 && !PASSING_STATUSES.includes(status)) {
      this.readyState = this.CLOSED;
      // A source that is closed by its owner reports nothing.
      if (!this.#controller.signal.aborted) this.#dispatch('error', LynxroomError.ofResponse(status, body));
    }
    const seconds = Number(headers.get('retry-after') ?? 0);
    return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0) * 1_000, MAX_RETRY_AFTER_MS) : 0;
  }

  /** The service ends lines with `\n`, and sends a single line of data per event. */
  #read(block: string): void {
    const event: SentEvent = { type: 'message', data: '', lastEventId: this.#lastEventId };
    let hasData = false;
    for (const line of block.split('\n')) {
      const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
      if (name === 'data') [event.data, hasData] = [value, true];
      if (name === 'event') event.type = value;
      if (name === 'id') this.#lastEventId = event.lastEventId = value;
      if (name === 'retry') this.#retryMs = Number(value);
    }
    if (hasData && this.readyState !== this.CLOSED) this.#dispatch(event.type, event);
  }

  #dispatch(type: string, event: SentEvent | LynxroomError): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(event);
  }
}
