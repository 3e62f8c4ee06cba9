/** Sends the signals for one page, one after another, and again after a lost connection to the service. */
import { isLynxroomError } from '@lynxroom/client';
import { encodeSignal, type Signal } from './signal-data.ts';

export type SignalQueueOptions = {
  post(text: string): Promise<unknown>;
  /** The service refuses the signal for good. */
  onRefused(error: Error): void;
};

/**
 * Also after 404: the service does not list this page while its stream is lost, and when the other page is gone for
 * good, the list of peers closes the queue.
 */
const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 2_000;
/** Signals that wait this long belong to a negotiation that has been given up. */
const MAX_WAITING = 100;

export class SignalQueue {
  readonly #options: SignalQueueOptions;
  #waiting: Signal[] = [];
  #isSending = false;
  #isClosed = false;
  #wake: () => void = () => {};

  constructor(options: SignalQueueOptions) {
    this.#options = options;
  }

  add(signal: Signal): void {
    // An offer replaces what waits: earlier offers, and the candidates that belong to them.
    if (signal.offer) this.#waiting = this.#waiting.filter(({ answer }) => answer !== undefined);
    this.#waiting = [...this.#waiting, signal].slice(-MAX_WAITING);
    if (!this.#isSending) void this.#sendAll();
  }

  /** Tries again at once, because the service can be reached again. */
  retryNow(): void {
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#wake();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) await this.#send(next);
    this.#isSending = false;
  }

  async #send(signal: Signal): Promise<void> {
    let texts: string[];
    try {
      texts = encodeSignal(signal);
    } catch (error) {
      this.#options.onRefused(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    for (const text of texts) {
      if (!(await this.#post(text))) return;
    }
  }

  /** Resolves with whether the service took the text. */
  async #post(text: string): Promise<boolean> {
    for (let retryMs = MIN_RETRY_MS; !this.#isClosed; retryMs = Math.min(retryMs * 2, MAX_RETRY_MS)) {
      try {
        await this.#options.post(text);
        return true;
      } catch (error) {
        const isFinal = isLynxroomError(error) && error.status < 500 && ![404, 408, 425, 429].includes(error.status);
        if (isFinal && !this.#isClosed) this.#options.onRefused(error);
        if (isFinal) return false;
      }
      await this.#wait(retryMs);
    }
    return false;
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
