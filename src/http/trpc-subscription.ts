/**
 * Serves subscriptions with the protocol of tRPC's `httpSubscriptionLink`: Server-Sent Events. Messages are events
 * without a name. The status of every subscription is 200. Errors are sent as events, because code that uses an
 * `EventSource` cannot read the status.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';
import { SECOND_MS } from '../core/time.ts';
import type { StreamMessage } from '../live-updates/stream-message.ts';
import type { Services } from '../services.ts';
import type { Procedure } from '../trpc/call-procedure.ts';
import type { Context } from '../trpc/context.ts';
import { fromUnexpected, toTrpcShape } from '../trpc/errors.ts';
import type { RawInput } from '../trpc/raw-input.ts';
import { streamOf } from '../trpc/subscription.ts';
import { type StreamFormat, sendEventStream, streamHeaders } from './event-stream.ts';
import { logFailure } from './log-failure.ts';

/** A client that receives nothing for this long reconnects. The time must be longer than the interval between pings. */
const RECONNECT_AFTER_MS = 45 * SECOND_MS;

type Call = { name: string; procedure: Procedure; input: RawInput };

/** Sends the messages of a subscription. If the subscription was refused, sends the error instead. */
export async function serveSubscription(
  services: Services,
  { name, procedure, input }: Call,
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const format = createFormat(name, context.requestId);
  try {
    const read = async (): Promise<unknown> => resume(await input.read(), request);
    const result = await procedure.call(context, { ...input, read });
    return sendEventStream(request, reply, services, streamOf(result), format);
  } catch (error) {
    const failure = error instanceof AppError ? error : fromUnexpected(error);
    logFailure(request.log, failure);
    return reply.headers(streamHeaders).send(format.opening + format.toClosing(failure));
  }
}

/** When a browser's `EventSource` reconnects, it sends the last ID in a header, together with the original input. */
function resume(input: unknown, { headers }: FastifyRequest): unknown {
  const { 'last-event-id': lastEventId } = headers;
  if (lastEventId === undefined || typeof input !== 'object' || input === null) return input;
  return { ...input, lastEventId };
}

function createFormat(name: string, requestId: string): StreamFormat {
  return {
    opening: `event: connected\ndata: ${JSON.stringify({ reconnectAfterInactivityMs: RECONNECT_AFTER_MS })}\n\n`,
    ping: 'event: ping\ndata: \n\n',
    toFrame,
    toClosing: (error) => `event: serialized-error\ndata: ${JSON.stringify(toTrpcShape(error, name, requestId))}\n\n`,
  };
}

const frames = new WeakMap<StreamMessage, string>();

/** Each message is formatted only once for all readers. */
function toFrame(message: StreamMessage): string {
  const known = frames.get(message);
  if (known !== undefined) return known;
  const { id, body } = message;
  const frame = `data: ${body}\n${id === null ? '' : `id: ${id}\n`}\n`;
  frames.set(message, frame);
  return frame;
}
