/** A pool that shares its connections fairly, and discards dead ones. */
import pg from 'pg';
import { type CallBounds, currentCall, endWait, startWait, waitedMs } from '../core/call-bounds.ts';
import { BoundedClient, CONNECT_TIMEOUT_MS, keepAlive, type StatementLimits } from './bounded-client.ts';
import { type ConnectionGate, createConnectionGate, type GateLimits, type GateUse } from './connection-gate.ts';
import { DatabaseTimeoutError, toConnectionError } from './refused-calls.ts';
import { getTimeLimit } from './time-limits.ts';

type Connected = (error: Error | undefined, client?: pg.PoolClient, done?: (release?: boolean | Error) => void) => void;

export type PoolUse = GateUse & {
  /** How many connections are open but not in use. */
  idle: number;
  /** The maximum number of connections. */
  max: number;
};

export class BoundedPool extends pg.Pool {
  readonly #gate: ConnectionGate;
  readonly #max: number;
  readonly #requestMs: number;
  /** A connection was dead at this time. Others that have not been heard from since may be dead too. */
  #suspectSince = Number.NEGATIVE_INFINITY;

  constructor(config: pg.PoolConfig & { max: number }, limits: StatementLimits & GateLimits) {
    const connectionTimeoutMillis = Math.min(CONNECT_TIMEOUT_MS, limits.queueMs);
    // The pool passes its options to the client, though its type does not say so.
    const Client = BoundedClient as unknown as NonNullable<pg.PoolConfig['Client']>;
    // With `pipeline`, BEGIN is sent together with the statement after it. Calls never share a connection, because a
    // statement that waits would hold up those queued behind it.
    super({ ...keepAlive, connectionTimeoutMillis, pipeline: true, ...config, ...limits, Client });
    this.#gate = createConnectionGate(config.max, limits);
    this.#max = config.max;
    this.#requestMs = limits.requestMs;
    this.on('connect', (client) => {
      const bounded = toBounded(client);
      bounded.lastHeardAt = performance.now();
      bounded.onDead = (sentAt) => {
        this.#suspectSince = Math.max(this.#suspectSince, sentAt);
      };
    });
  }

  use(): PoolUse {
    return { ...this.#gate.use(), idle: this.idleCount, max: this.#max };
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): unknown {
    if (callback === undefined) return this.#connect('transaction');
    // The pool's `query` uses this form.
    this.#connect('statement').then(
      (client) => callback(undefined, client, client.release),
      (error: Error) => callback(error),
    );
  }

  async #connect(use: 'statement' | 'transaction'): Promise<pg.PoolClient> {
    const call = currentCall.getStore();
    const leave = await this.#gate.acquire(call, use);
    try {
      const client = await this.#takeInTime(call);
      const { release } = client;
      client.release = (error) => {
        release(error ?? toBounded(client).isSpent);
        leave();
      };
      return client;
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Gives up when the request has waited long enough. A connection that opens later stays in the pool. */
  async #takeInTime(call: CallBounds | undefined): Promise<pg.PoolClient> {
    if (this.idleCount > 0 || call === undefined || getTimeLimit() !== 'request') return this.#takeAlive();
    // A timer may fire up to a millisecond early.
    const ms = Math.floor(this.#requestMs - waitedMs(call.waited));
    if (ms <= 0) throw noConnection();
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(noConnection());
      taking.then((client) => client.release()).catch(() => {});
    }, ms);
    startWait(call.waited);
    const taking = this.#takeAlive();
    return Promise.race([taking, timeout]).finally(() => {
      clearTimeout(timer);
      endWait(call.waited);
    });
  }

  async #takeAlive(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await super.connect().catch((error: Error) => {
        throw toConnectionError(error);
      });
      if (toBounded(client).lastHeardAt >= this.#suspectSince) return client;
      client.release(true);
    }
  }
}

function noConnection(): DatabaseTimeoutError {
  return new DatabaseTimeoutError('No connection was free in time');
}

/** The constructor makes every client of the pool a BoundedClient. */
function toBounded(client: pg.PoolClient): BoundedClient {
  return client as unknown as BoundedClient;
}
