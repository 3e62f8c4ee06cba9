/** One HTTP request to a receiver that may do anything: bounded in time and memory, dialling only what may be dialled. */
import { Agent, type Dispatcher } from 'undici';
import { type Clock, SECOND_MS, systemClock } from '../core/time.ts';
import { type AddressGuard, refusalOfForm } from '../egress/address-guard.ts';
import { failureReason } from '../egress/failure-reason.ts';
import { createGuardedConnector } from '../egress/guarded-connector.ts';
import { answerText, MAX_ANSWER_BYTES } from './response-body.ts';
import { parseRetryAfter } from './retry-after.ts';

export type SendRequest = {
  url: string;
  headers: Record<string, string>;
  /** The same bytes on every attempt. */
  body: string;
};

/** What became of an attempt. */
export type Outcome = {
  /** HTTP status; 0 where there was no answer. */
  status: number;
  /**
   * The answer's body, cut at 10 kB; without an answer, the reason. A body that did not end in time, or broke off, is there
   * as far as it came. Free of NUL and of invalid Unicode.
   */
  text: string;
  /** What the answer's Retry-After asks for, in seconds from now; null where there is none that can be read. */
  retryAfterSeconds: number | null;
  /** Whole milliseconds. */
  durationMs: number;
};

export type Sender = {
  /**
   * POSTs once, and follows no redirect. Never rejects for what a receiver does: with a status the receiver has answered,
   * whatever becomes of the rest. Rejects for what is wrong on our side, such as a header with a line break.
   */
  send(request: SendRequest): Promise<Outcome>;
  /** Waits for the attempts under way, for the time-out at most, and closes all connections. Nothing can be sent then. */
  close(): Promise<void>;
};

export type SenderOptions = {
  guard: AddressGuard;
  /** For an attempt from the look-up of the name to the end of the answer, in milliseconds. */
  timeoutMs?: number;
  /** What a date in Retry-After is measured against. */
  clock?: Clock;
};

export const TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 16 * 1024;
/**
 * How long a connection is kept for the next attempt. Servers close idle ones after 2 s (gunicorn), 5 s (Node, Apache,
 * uvicorn) or more: staying below means that none closes while we send. So nothing is sent a second time on a fresh
 * connection when a kept one breaks, and an attempt in the books is one request.
 */
const KEEP_ALIVE_MS = 1_500;
/** With the header Keep-Alive a receiver may ask for more, and would otherwise be granted ten minutes. */
const MAX_KEEP_ALIVE_MS = 4_000;

const FIXED_HEADERS: readonly string[] = ['user-agent', 'Lynxroom-Webhooks/1.0', 'accept-encoding', 'identity'];

/** An answer as far as it has come. */
type Answer = { status: number; encoding: string; retryAfterSeconds: number | null; chunks: Buffer[]; bytes: number };

/** One attempt: undici calls it as the answer comes in, and `outcome` settles at the end or at the deadline. */
class Attempt implements Dispatcher.DispatchHandler {
  readonly #ended = Promise.withResolvers<Outcome>();
  readonly #startedAt = performance.now();
  readonly #clock: Clock;
  readonly #timer: NodeJS.Timeout;
  #hasEnded = false;
  #controller: Dispatcher.DispatchController | null = null;
  #answer: Answer | null = null;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timer = setTimeout(() => this.#breakOff(`No answer within ${timeoutMs / SECOND_MS} s`), timeoutMs);
  }

  get outcome(): Promise<Outcome> {
    return this.#ended.promise;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // undici cannot take back a request that waits for its connection.
    if (this.#hasEnded) controller.abort(new Error('The attempt has ended'));
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ) {
    // A final answer follows: RFC 9110, section 15.2.
    if (status < 200) return;
    const isSuccess = status < 300;
    this.#answer = {
      status,
      encoding: first(headers['content-encoding']),
      retryAfterSeconds: isSuccess ? null : parseRetryAfter(headers['retry-after'], this.#clock.now()),
      chunks: [],
      bytes: 0,
    };
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    const answer = this.#answer;
    if (answer === null) return;
    const room = MAX_ANSWER_BYTES - answer.bytes;
    answer.chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    answer.bytes += chunk.length;
    if (chunk.length > room) this.#breakOff();
  }

  onResponseEnd(): void {
    this.#end({ isWhole: true });
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    const reason = failureReason(error);
    if (this.#answer !== null || reason !== null) this.#end({ isWhole: false, reason: reason ?? '' });
    else this.#fail(error);
  }

  #breakOff(reason = ''): void {
    this.#end({ isWhole: false, reason });
    this.#controller?.abort(new Error('The attempt has ended'));
  }

  /** Only the first end counts. */
  #end({ isWhole, reason = '' }: { isWhole: boolean; reason?: string }): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.#ended.resolve(this.#outcomeOf(this.#answer, isWhole, reason));
  }

  #fail(error: Error): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.#ended.reject(error);
  }

  #outcomeOf(answer: Answer | null, isWhole: boolean, reason: string): Outcome {
    const durationMs = Math.round(performance.now() - this.#startedAt);
    if (answer === null) return { status: 0, text: reason, retryAfterSeconds: null, durationMs };
    const { status, retryAfterSeconds, chunks, encoding } = answer;
    return { status, text: answerText(Buffer.concat(chunks), isWhole, encoding), retryAfterSeconds, durationMs };
  }
}

/** How much is sent at once is up to the caller: each attempt has a connection of its own, kept or new. */
export function createSender({ guard, timeoutMs = TIMEOUT_MS, clock = systemClock }: SenderOptions): Sender {
  const agent = new Agent({
    connect: createGuardedConnector(guard, timeoutMs),
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
    // The attempt has one deadline of its own for everything.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const underWay = new Set<Promise<Outcome>>();

  const post = (url: URL, { headers, body }: SendRequest): Promise<Outcome> => {
    const attempt = new Attempt(clock, timeoutMs);
    const flatHeaders = [...FIXED_HEADERS];
    for (const name in headers) flatHeaders.push(name, headers[name] ?? '');
    agent.dispatch(
      { origin: url.origin, path: url.pathname + url.search, method: 'POST', headers: flatHeaders, body },
      attempt,
    );
    return attempt.outcome;
  };

  return {
    async send(request) {
      const url = URL.parse(request.url);
      const refusal = url ? refusalOfForm(url) : 'url is not a URL';
      if (url === null || refusal !== null) {
        return { status: 0, text: `The address may not be used: ${refusal}`, retryAfterSeconds: null, durationMs: 0 };
      }
      const outcome = post(url, request);
      underWay.add(outcome);
      return outcome.finally(() => underWay.delete(outcome));
    },

    async close() {
      await Promise.allSettled(underWay);
      await agent.destroy();
    },
  };
}

function first(header: string | string[] | undefined): string {
  return [header].flat().at(0) ?? '';
}
