/** One reader's stream of states: first the current state, and then each new state. */
import { runInBackground } from '../core/call-bounds.ts';
import type { Clock } from '../core/time.ts';
import { toBody } from '../events/envelope.ts';
import type { NewStream, OpenStreams } from './open-streams.ts';
import type { LiveStream, StreamMessage } from './stream-message.ts';
import { createStreamQueue } from './stream-queue.ts';

export type State = {
  event: string;
  data: object;
  /** Whether this state is final. The stream then ends. */
  isFinal: boolean;
};

export type StateReader = { read(): Promise<State> };

export function openStateStream(
  { clock, streams }: { clock: Clock; streams: OpenStreams },
  { read }: StateReader,
  newStream: Omit<NewStream, 'recheck'>,
): LiveStream {
  let last = '';
  let isOver = false;
  let reading = Promise.resolve();

  /** Reads the state again. Reads run one after another, so that an older state never follows a newer state. */
  const refresh = (): Promise<void> => {
    const next = reading.then(async () => {
      const { event, data, isFinal } = await runInBackground(read);
      const state = JSON.stringify([event, data]);
      if (state === last || isOver) return;
      last = state;
      isOver = isFinal;
      queue.add({ id: null, event, body: toBody({ event, timestamp: clock.now(), data }) });
    });
    reading = next.catch(() => {});
    return next;
  };

  const stream = streams.open({ ...newStream, recheck: refresh });
  const queue = createStreamQueue(stream);

  async function* readMessages(): AsyncGenerator<StreamMessage, void> {
    await refresh();
    while (true) {
      yield* await queue.take();
      if (isOver) return;
    }
  }

  return { stream, messages: readMessages() };
}
