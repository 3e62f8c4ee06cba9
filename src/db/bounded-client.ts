/** A connection that ends every statement in time, even if the server has vanished without closing the connection. */
import { connect } from 'node:net';
import pg from 'pg';
import { type CallBounds, currentCall, endWait, startWait, waitedMs } from '../core/call-bounds.ts';
import { failureOf, isTracing } from '../core/tracing.ts';
import { createQuery, destroyConnection, type QueryCallback, readBackendKey } from './pg-internals.ts';
import { DatabaseTimeoutError, HungUpError, toConnectionError } from './refused-calls.ts';
import { startStatementSpan } from './statement-span.ts';
import { getTimeLimit, LONG_STATEMENT_MS } from './time-limits.ts';

export type StatementLimits = {
  /** How long a statement may take, in milliseconds. A function is called for each statement. */
  statementMs: number | (() => number);
  /** How long all waits of a request may take in total, in milliseconds. */
  requestMs: number;
  /** How statements are cancelled. `request`, the default, keeps the connection until PostgreSQL has confirmed. */
  cancelBy?: 'request' | 'disconnect';
};

export type BoundedClientConfig = pg.ClientConfig & Partial<StatementLimits>;

/** A query object of a named statement. */
type NamedQuery = pg.QueryConfig & { name: string };

/** How long opening a connection may take. */
export const CONNECT_TIMEOUT_MS = 4_000;

/** Keep-alive probes find a peer that has vanished while a connection is idle. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 5_000 };

/**
 * PostgreSQL confirms a cancellation immediately. If no confirmation arrives in this time, the connection counts as
 * dead.
 */
const CANCEL_GRACE_MS = 1_000;
/**
 * The delay before a statement is cancelled because its caller has hung up. Most statements end earlier, and cancelling
 * costs a connection.
 */
const HANG_UP_GRACE_MS = 100;
/** The minimum time that a statement gets, so that a late one, such as COMMIT, can still succeed. */
const MIN_STATEMENT_MS = 1_000;

/**
 * Cancels a statement that takes too long, or whose caller has hung up, with a CancelRequest of the PostgreSQL
 * protocol. If no response follows, it destroys the connection.
 *
 * Through a pooler in transaction mode, it destroys the connection immediately: a CancelRequest might hit the statement
 * of another client, and crashes some versions of PgBouncer. The pooler then closes its connection to PostgreSQL, which
 * cancels the statement within `client_connection_check_interval`.
 */
export class BoundedClient extends pg.Client {
  /** When the server last answered, on the clock of `performance.now()`. */
  lastHeardAt = performance.now();
  /**
   * Whether a statement was cancelled. The connection must then not be used again, because the cancellation may arrive
   * late and hit the next statement.
   */
  isSpent = false;
  /** Called when the connection turns out to be dead, with the time at which the unanswered statement was sent. */
  onDead: ((sentAt: number) => void) | undefined;
  /** Whether the connection was lost or closed. `pg` then rejects statements with errors that have no code. */
  #isClosed = false;
  readonly #limits: StatementLimits;

  constructor(config: BoundedClientConfig) {
    super(config);
    const { statementMs = Number.POSITIVE_INFINITY, requestMs = Number.POSITIVE_INFINITY } = config;
    this.#limits = { statementMs, requestMs, cancelBy: config.cancelBy ?? 'request' };
    // An error without a listener would end the process, and the pool listens only while the client is idle or runs a
    // single statement. The waiting statements are rejected after this event.
    this.on('error', () => {
      this.#isClosed = true;
    });
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    this.#isClosed = true;
    return callback === undefined ? super.end() : super.end(callback);
  }

  // The overloads of `pg` have no common type. The arguments are passed on as they are.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  override query(...args: any[]): any {
    const [statement] = args;
    // `pg` also takes its own query objects. No caller uses them, so they have no limit here.
    if (typeof statement?.submit === 'function') return super.query(statement);
    const text = typeof statement === 'string' ? statement : statement.text;
    const span = isTracing ? startStatementSpan(text, statement.name) : null;
    const stop = this.#watch(text);
    const end = (error: Error | null): Error | null => {
      span?.end(error === null ? {} : failureOf(error));
      return stop(error);
    };
    const at = args.findLastIndex((arg) => typeof arg === 'function');
    if (at > 0) {
      const callback = args[at] as QueryCallback;
      args[at] = (error: Error | null, result: unknown) => callback(end(error), result);
      if (typeof statement !== 'string' && isPlain(statement) && args[1] === undefined)
        return super.query(createQuery(statement, args[at] as QueryCallback));
    }
    // The promise of BEGIN is created in the same way as those of the statements after it, so that it settles before
    // them.
    if (args.length === 1 && isPlain(statement))
      return new Promise((resolve, reject) => {
        const settle: QueryCallback = (error, result) => {
          const failure = end(error);
          if (failure === null) resolve(result);
          else reject(failure);
        };
        super.query(createQuery(statement, settle));
      });
    // `as`: the overloads have no common type (see above).
    const sent: unknown = (super.query as (...all: unknown[]) => unknown).apply(this, args);
    if (!(sent instanceof Promise)) return sent;
    return sent.then(
      (result: unknown) => {
        end(null);
        return result;
      },
      (error: Error) => {
        throw end(error);
      },
    );
  }

  /** Starts the time limit of a statement. The returned function ends it, and returns the error to report. */
  #watch(text: string): (error: Error | null) => Error | null {
    const call = currentCall.getStore();
    const sentAt = performance.now();
    const ms = this.#limitFor(call);
    const isEnd = /^(?:commit|rollback)\b/i.test(text);
    const mayCancel = call?.isRead === true && !isEnd;
    let reason: Error | null = null;
    let timer: NodeJS.Timeout | undefined;
    const cancel = (error: Error): void => {
      reason = error;
      clearTimeout(timer);
      // COMMIT is not cancelled: whether it took effect would depend on a race.
      const disconnects = !isEnd && this.#limits.cancelBy === 'disconnect';
      if (!isEnd && !disconnects) this.#requestCancel();
      timer = setTimeout(() => this.#destroy(sentAt, error), disconnects ? 0 : CANCEL_GRACE_MS);
    };
    const onTimeout = (): void =>
      cancel(new DatabaseTimeoutError(`Statement timeout: no result within ${Math.round(ms)} ms`));
    const onHangUp = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => cancel(new HungUpError()), HANG_UP_GRACE_MS);
    };
    if (Number.isFinite(ms)) timer = setTimeout(onTimeout, ms);
    if (mayCancel) call.hungUp.addEventListener('abort', onHangUp);
    if (call) startWait(call.waited);
    return (error) => {
      clearTimeout(timer);
      if (mayCancel) call.hungUp.removeEventListener('abort', onHangUp);
      if (call) endWait(call.waited);
      if (reason === null) this.lastHeardAt = performance.now();
      if (error === null) return null;
      return reason ?? (this.#isClosed ? toConnectionError(error) : error);
    };
  }

  #limitFor(call: CallBounds | undefined): number {
    const { requestMs } = this.#limits;
    const statementMs =
      typeof this.#limits.statementMs === 'function' ? this.#limits.statementMs() : this.#limits.statementMs;
    const limit = getTimeLimit();
    if (limit === 'long') return Math.max(statementMs, LONG_STATEMENT_MS);
    if (call === undefined || limit === 'steps') return statementMs;
    return Math.max(MIN_STATEMENT_MS, Math.min(statementMs, requestMs - waitedMs(call.waited)));
  }

  #requestCancel(): void {
    this.isSpent = true;
    const key = readBackendKey(this);
    if (key === null) return;
    const message = Buffer.alloc(16);
    message.writeInt32BE(16, 0);
    message.writeInt32BE(80_877_102, 4);
    message.writeInt32BE(key.processID, 8);
    message.writeInt32BE(key.secretKey, 12);
    const { host, port } = this;
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    // If the cancellation fails, the connection is destroyed after `CANCEL_GRACE_MS`.
    socket.on('error', () => {});
    socket.setTimeout(CANCEL_GRACE_MS, () => socket.destroy());
    socket.end(message);
  }

  #destroy(sentAt: number, error: Error): void {
    this.isSpent = true;
    this.onDead?.(sentAt);
    destroyConnection(this, error);
  }
}

/** Whether a statement is a string, or a query object with only the fields that `createQuery` passes on. */
function isPlain(
  statement: string | (NamedQuery & { rowMode?: unknown; types?: unknown }),
): statement is string | NamedQuery {
  return typeof statement === 'string' || (statement.name !== undefined && !statement.rowMode && !statement.types);
}
