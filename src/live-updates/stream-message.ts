import type { LoggedEvent } from './event-log.ts';
import type { OpenStream } from './open-streams.ts';

/** A message to the reader of a stream. */
export type StreamMessage = {
  /** The ID from which the reader can resume; null if the message does not change it. */
  id: string | null;
  /** The type of the event. */
  event: string;
  /** The event as JSON. */
  body: string;
};

/** A stream and its messages. The code that reads the messages must close the stream. */
export type LiveStream = { messages: AsyncGenerator<StreamMessage, void>; stream: OpenStream };

/** The messages by event, so that all readers of an event share one message. */
const messages = new WeakMap<LoggedEvent, StreamMessage>();

export function toMessage(logged: LoggedEvent): StreamMessage {
  const known = messages.get(logged);
  if (known) return known;
  const message = { id: String(logged.sequence), event: logged.type, body: logged.body };
  messages.set(logged, message);
  return message;
}
