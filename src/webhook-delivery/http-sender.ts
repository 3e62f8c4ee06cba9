/** Sends HTTP requests to untrusted receivers, with limits on time and memory, and only to allowed addresses. */
import { Agent, type Dispatcher } from 'undici';
import { type Clock, SECOND_MS } from '../core/time.ts';
import type { AddressGuard } from '../egress/address-guard.ts';
import { failureReason } from '../egress/failure-reason.ts';
import { createGuardedConnector } from '../egress/guarded-connector.ts';
import { MAX_RESPONSE_BYTES, toResponseText } from './response-body.ts';
import { parseRetryAfter } from './retry-after.ts';

export type SendRequest = {
  url: string;
  headers: Record<string, string>;
  /** The same bytes on every attempt. */
  body: string;
};

/** The result of an attempt. */
export type Outcome = {
  /** The HTTP status, or 0 if there was no response. */
  status: number;
  /**
   * The first 10 kB of the response body, or why there was no response. If the body does not arrive completely, because
   * time ran out or the connection broke, this is the part that arrived. Never contains NUL or invalid Unicode.
   */
  text: string;
  /** The delay that Retry-After asks for, in seconds; null if the attempt succeeded or there is no valid header. */
  retryAfterSeconds: number | null;
  /** How long the attempt took, in whole milliseconds. */
  durationMs: number;
};

export type Sender = {
  /**
   * Sends one POST request and does not follow redirects. Once a status has arrived, it is the outcome, even if the
   * rest of the response fails. Rejects only for internal errors, such as a header with a line break, never because of
   * the receiver.
   */
  send(request: SendRequest): Promise<Outcome>;
  /**
   * Waits for the requests in flight, at most until they time out, and closes all connections. Afterwards nothing can
   * be sent.
   */
  close(): Promise<void>;
};

export type SenderOptions = {
  guard: AddressGuard;
  /** The time limit for one request, from the DNS lookup to the end of the response, in milliseconds. */
  timeoutMs?: number;
  /** The current time, for converting a date in Retry-After to seconds. */
  clock: Clock;
};

export const TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 16 * 1024;
/**
 * How long an idle connection stays open for the next request. Servers close idle connections after 2 s (gunicorn), 5 s
 * (Node, Apache, uvicorn) or more. Because this time is shorter, no server closes a connection while a request is being
 * sent, so no request has to be repeated on another connection, and each recorded attempt is one request.
 */
export const KEEP_ALIVE_MS = 1_500;
/**
 * A receiver can ask for a longer time with the header Keep-Alive. This is the maximum; the default of undici is ten
 * minutes.
 */
const MAX_KEEP_ALIVE_MS = 4_000;

const FIXED_HEADERS: readonly string[] = ['user-agent', 'Lynxroom-Webhooks/1.0', 'accept-encoding', 'identity'];

/**
 * Creates a sender. The caller must limit the number of requests in flight, because each takes a connection of its own.
 */
export function createSender({ guard, timeoutMs = TIMEOUT_MS, clock }: SenderOptions): Sender {
  const agent = new Agent({
    connect: createGuardedConnector(guard, timeoutMs),
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
    // Each exchange has one deadline for all of its steps.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const inFlight = new Set<Promise<Outcome>>();

  const post = (url: URL, { headers, body }: SendRequest): Promise<Outcome> => {
    const exchange = new Exchange(clock, timeoutMs);
    const flatHeaders = [...FIXED_HEADERS];
    for (const name in headers) flatHeaders.push(name, headers[name] ?? '');
    agent.dispatch(
      { origin: url.origin, path: url.pathname + url.search, method: 'POST', headers: flatHeaders, body },
      exchange,
    );
    return exchange.outcome;
  };

  return {
    async send(request) {
      const url = URL.parse(request.url);
      const refusal = url ? guard.refusalOfUrl(url) : 'url must be a valid URL';
      if (url === null || refusal !== null) {
        return { status: 0, text: `Address not allowed: ${refusal}`, retryAfterSeconds: null, durationMs: 0 };
      }
      const outcome = post(url, request);
      inFlight.add(outcome);
      return outcome.finally(() => inFlight.delete(outcome));
    },

    async close() {
      await Promise.allSettled(inFlight);
      await agent.destroy();
    },
  };
}

/** The part of a response that has arrived so far. */
type PartialResponse = {
  status: number;
  encoding: string;
  retryAfterSeconds: number | null;
  chunks: Buffer[];
  bytes: number;
};

/**
 * One request and its response. undici calls its methods as the response arrives. `outcome` settles at the end of the
 * response or at the deadline.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #ended = Promise.withResolvers<Outcome>();
  readonly #startedAt = performance.now();
  readonly #clock: Clock;
  readonly #timer: NodeJS.Timeout;
  #hasEnded = false;
  #controller: Dispatcher.DispatchController | null = null;
  #response: PartialResponse | null = null;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timer = setTimeout(() => this.#abort(`No response within ${timeoutMs / SECOND_MS} s`), timeoutMs);
  }

  get outcome(): Promise<Outcome> {
    return this.#ended.promise;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // undici cannot abort a request that is waiting for its connection, so it may start after the deadline.
    if (this.#hasEnded) controller.abort(new Error('The request has ended'));
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ) {
    // A status below 100 is not valid, and undici fails after it. Interim responses do not arrive here.
    if (status < 200) return;
    const isSuccess = status < 300;
    this.#response = {
      status,
      encoding: firstOf(headers['content-encoding']),
      retryAfterSeconds: isSuccess ? null : parseRetryAfter(headers['retry-after'], this.#clock.now()),
      chunks: [],
      bytes: 0,
    };
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    const response = this.#response;
    if (response === null) return;
    const left = MAX_RESPONSE_BYTES - response.bytes;
    response.chunks.push(chunk.length > left ? chunk.subarray(0, left) : chunk);
    response.bytes += chunk.length;
    if (chunk.length > left) this.#abort();
  }

  onResponseEnd(): void {
    this.#end({ isWhole: true });
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    const reason = failureReason(error);
    if (this.#response !== null || reason !== null) this.#end({ isWhole: false, reason: reason ?? '' });
    else this.#fail(error);
  }

  #abort(reason = ''): void {
    this.#end({ isWhole: false, reason });
    this.#controller?.abort(new Error('The request has ended'));
  }

  /** Only the first call has an effect. */
  #end({ isWhole, reason = '' }: { isWhole: boolean; reason?: string }): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.#ended.resolve(this.#toOutcome(isWhole, reason));
  }

  #fail(error: Error): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.#ended.reject(error);
  }

  #toOutcome(isWhole: boolean, reason: string): Outcome {
    const durationMs = Math.round(performance.now() - this.#startedAt);
    if (this.#response === null) return { status: 0, text: reason, retryAfterSeconds: null, durationMs };
    const { status, retryAfterSeconds, chunks, encoding } = this.#response;
    return { status, text: toResponseText(Buffer.concat(chunks), isWhole, encoding), retryAfterSeconds, durationMs };
  }
}

function firstOf(header: string | string[] | undefined): string {
  return [header].flat().at(0) ?? '';
}
