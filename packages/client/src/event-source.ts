/**
 * An `EventSource` on top of `fetch`, for subscriptions. Unlike that of browsers it exists everywhere, can send a
 * token, and also connects again when a proxy answers with an error.
 */

type SentEvent = { type: string; data: string; lastEventId: string };
type Listener = (event: SentEvent) => void;

export type EventSourceOptions = {
  fetch: typeof globalThis.fetch;
  credentials: NonNullable<RequestInit['credentials']>;
  headers(): Record<string, string>;
};

const MAX_RETRY_MS = 30_000;

/**
 * The response of `url` must be a stream of Server-Sent Events. The class implements the part of the standard that tRPC
 * uses.
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
      await this.#connect(url, options).catch(() => {});
      if (this.readyState === this.CLOSED) return;
      this.readyState = this.CONNECTING;
      this.#dispatch({ type: 'error', data: '', lastEventId: '' });
      const waitMs = Math.min(this.#retryMs * 2 ** this.#failures, MAX_RETRY_MS);
      this.#failures += 1;
      await this.#wait(waitMs * (0.5 + Math.random() / 2));
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

  async #connect(url: string, { fetch, credentials, headers }: EventSourceOptions): Promise<void> {
    const response = await fetch(url, {
      credentials,
      headers: {
        ...headers(),
        accept: 'text/event-stream',
        ...(this.#lastEventId !== '' && { 'last-event-id': this.#lastEventId }),
      },
      cache: 'no-store',
      signal: this.#controller.signal,
    });
    if (!response.ok || response.body === null) return;
    this.readyState = this.OPEN;
    this.#failures = 0;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const blocks = (text + part.value).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) this.#read(block);
    }
  }

  /** The service ends lines with `\n`, and has a single line of data. */
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
    if (hasData) this.#dispatch(event);
  }

  #dispatch(event: SentEvent): void {
    if (this.readyState === this.CLOSED) return;
    for (const listener of this.#listeners.get(event.type) ?? []) listener(event);
  }
}
