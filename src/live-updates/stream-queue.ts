/** The queue of messages to one reader. It is bounded, so that a slow reader uses little memory. */
import { AppError } from '../core/errors.ts';
import type { OpenStream } from './open-streams.ts';
import type { StreamMessage } from './stream-message.ts';

export type StreamQueue = {
  /**
   * Adds a message. Ends the stream if the reader is too far behind: the reader can then reconnect and resume from the
   * log.
   */
  add(message: StreamMessage): void;
  /**
   * Waits until the queue has messages or `wake` is called, and returns all messages. Rejects when the stream ends.
   */
  take(): Promise<StreamMessage[]>;
  /** Makes `take` return, now or when it is called next. */
  wake(): void;
};

/** The maximum total length of the queued bodies, in characters. */
const MAX_QUEUED = 256 * 1024;

export function createStreamQueue({ signal, end }: OpenStream): StreamQueue {
  let queued: StreamMessage[] = [];
  let length = 0;
  let isAwake = false;
  let notify = (): void => {};
  signal.addEventListener('abort', () => notify(), { once: true });
  return {
    add(message) {
      if (signal.aborted) return;
      queued.push(message);
      length += message.body.length;
      if (length > MAX_QUEUED) end(new AppError('REQUEST_TIMEOUT', 'The stream is read too slowly: connect again'));
      notify();
    },
    async take() {
      if (queued.length === 0 && !isAwake && !signal.aborted)
        await new Promise<void>((resolve) => {
          notify = resolve;
        });
      signal.throwIfAborted();
      isAwake = false;
      const taken = queued;
      queued = [];
      length = 0;
      return taken;
    },
    wake() {
      isAwake = true;
      notify();
    },
  };
}
