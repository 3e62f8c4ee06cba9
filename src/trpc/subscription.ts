/** The result of a subscription: a stream that the transport sends, and that callers in this process can iterate. */
import { type TrackedEnvelope, tracked } from '@trpc/server';
import type { LiveStream } from '../live-updates/stream-message.ts';

/**
 * Expands a type completely, so that it refers to no named types. The compiler writes it into the declarations of the
 * client.
 */
type Plain<Type> = Type extends string | number | boolean | null | undefined
  ? Type
  : Type extends readonly (infer Element)[]
    ? Plain<Element>[]
    : { [Key in keyof Type]: Plain<Type[Key]> };

/** A stream whose messages have IDs, so that a client can resume automatically. */
export function toTrackedSubscription<Message>(live: LiveStream): AsyncIterable<TrackedEnvelope<Plain<Message>>> {
  return withStream(live, async function* () {
    // `as`: the caller of this function names the type of the bodies.
    for await (const { id, body } of live.messages) yield tracked(id ?? '0', JSON.parse(body) as Plain<Message>);
  });
}

/** A stream of states. When a client reconnects, it gets the current state. */
export function toSubscription<Message>(live: LiveStream): AsyncIterable<Plain<Message>> {
  return withStream(live, async function* () {
    // `as`: the caller names the type, as above.
    for await (const { body } of live.messages) yield JSON.parse(body) as Plain<Message>;
  });
}

const streams = new WeakMap<object, LiveStream>();

function withStream<Message>(live: LiveStream, iterate: () => AsyncIterator<Message>): AsyncIterable<Message> {
  const subscription = { [Symbol.asyncIterator]: iterate };
  streams.set(subscription, live);
  return subscription;
}

/** Returns the stream of a subscription that one of these functions made. */
export function streamOf(result: unknown): LiveStream {
  const stream = typeof result === 'object' && result !== null ? streams.get(result) : undefined;
  if (stream === undefined) throw new Error('A subscription returned no stream');
  return stream;
}
