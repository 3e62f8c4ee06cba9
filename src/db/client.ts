/** The database client: Prisma and the named statements, over one pool of `pg` connections. */
import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import { currentCall } from '../core/call-bounds.ts';
import { CONNECT_TIMEOUT_MS } from './bounded-client.ts';
import { BoundedPool, type PoolUse } from './bounded-pool.ts';
import { retryDeadlocks } from './errors.ts';
import { createEventSignal, type EventSignal, RELAY_CHANNEL } from './event-signal.ts';
import { Prisma, PrismaClient } from './generated/client.ts';
import { markExecuted } from './idempotency-keys.ts';
import { notify } from './notify.ts';
import { type SessionSettings, setOnConnect } from './session-settings.ts';
import { addedWork, createSql, type SqlDatabase, sqlIn } from './sql.ts';
import { int, statement } from './statements.ts';
import { getTimeLimit, LONG_STATEMENT_MS } from './time-limits.ts';

export { Prisma };

export type Database = PrismaClient & {
  /** Runs the named statements. */
  readonly sql: SqlDatabase;
  /** Tells the background work of all processes that events, audit entries or mail were committed. */
  readonly eventSignal: EventSignal;
  /** Resolves once the database has answered. */
  ping(): Promise<void>;
  /** Returns how many connections are in use now. */
  poolUse(): PoolUse;
};

/** A transaction, or the database itself for functions that work with either. */
export type Tx = Prisma.TransactionClient;

/**
 * How the connections of a pool reach PostgreSQL. `session`: each connection has its own session, directly or through a
 * pooler in session mode. `transaction`: a pooler may run each transaction in a different session.
 */
export type Pooling = 'session' | 'transaction';

const TRANSACTION_TIMEOUT_MS = 30_000;
const POOL_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;
/** The fraction of the statement timeout that a statement may wait for a lock, so that the lock times out first. */
const LOCK_PART = 0.8;

const pingStatement = statement('ping-database', { params: {}, returns: { one: int }, sql: 'select 1 as one' });

/**
 * The settings of every connection. Plans are generic, because planning the library list each time would cost 1 to 3
 * ms. JIT is off, because compiling costs more than our statements do. The time zone is UTC, because the adapter reads
 * and writes timestamps without their offset. `BoundedClient` cancels statements. The timeouts are for a process that
 * hangs: its statements end, and its transactions are rolled back.
 */
export const requestSettings: SessionSettings = {
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
  TimeZone: 'UTC',
  lock_timeout: String(STATEMENT_TIMEOUT_MS * LOCK_PART),
  idle_in_transaction_session_timeout: '15000',
  statement_timeout: String(LONG_STATEMENT_MS),
  // Ends the statements of clients that have disconnected. Without this setting, PostgreSQL does not check for that.
  client_connection_check_interval: '1000',
};

/**
 * Opens a pool of at most `poolSize` connections, with `requestSettings`. Statements are prepared once per connection.
 * Each takes at most 5 s, and those of one request at most 10 s in total, including waits for a connection.
 *
 * A pooler in transaction mode does not preserve the state of a session. With such a pooler, statements are not
 * prepared by name, and the settings must be those of the database role.
 */
export function openDatabase(options: {
  connectionString: string;
  poolSize: number;
  pooling?: Pooling;
  /** How long a query may wait for a connection, in milliseconds. */
  poolTimeoutMs?: number;
  /** How long a statement may take, in milliseconds. */
  statementTimeoutMs?: number;
  /** How long a request may wait for the database in total, in milliseconds. */
  requestTimeoutMs?: number;
  /** Called when an idle connection is lost. */
  onError: (error: Error) => void;
}): Database {
  const {
    pooling = 'session',
    poolTimeoutMs = POOL_TIMEOUT_MS,
    statementTimeoutMs = STATEMENT_TIMEOUT_MS,
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
  } = options;
  const ownsSession = pooling === 'session';
  const settings = { ...requestSettings, lock_timeout: String(Math.round(statementTimeoutMs * LOCK_PART)) };
  const pool = new BoundedPool(
    {
      connectionString: options.connectionString,
      max: options.poolSize,
      ...(ownsSession && { onConnect: setOnConnect(settings) }),
    },
    {
      queueMs: poolTimeoutMs,
      statementMs: statementTimeoutMs,
      requestMs: requestTimeoutMs,
      cancelBy: ownsSession ? 'request' : 'disconnect',
    },
  );
  // Without a listener, an idle connection that the server closes would end the process.
  pool.on('error', options.onError);
  const adapter = new PrismaPg(pool, {
    disposeExternalPool: true,
    ...(ownsSession && {
      statementNameGenerator: ({ sql }: { sql: string }) => createHash('sha1').update(sql).digest('base64url'),
    }),
  });
  const client = new PrismaClient({
    adapter,
    errorFormat: 'minimal',
    transactionOptions: { maxWait: poolTimeoutMs + CONNECT_TIMEOUT_MS, timeout: TRANSACTION_TIMEOUT_MS },
  });
  const eventSignal = createEventSignal((sender) => notify(sql, RELAY_CHANNEL, sender));
  const sql: SqlDatabase = createSql(pool, ownsSession, eventSignal.raise);
  return Object.assign(client, {
    sql,
    eventSignal,
    async ping() {
      await sql.run(pingStatement, {});
    },
    poolUse: () => pool.use(),
  });
}

/**
 * Runs `work` in a transaction, and retries it with backoff if PostgreSQL cancels it to resolve a deadlock. `work` must
 * have no effects outside the transaction. In a call with an idempotency key, the transaction also records that the
 * call was carried out.
 */
export function transact<Result>(db: Database, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  const options = getTimeLimit() === 'long' ? { timeout: LONG_STATEMENT_MS } : {};
  const claim = currentCall.getStore()?.claim;
  return retryDeadlocks(async () => {
    let hasWork = false;
    const result = await db.$transaction(async (tx) => {
      const done = await work(tx);
      hasWork = addedWork.has(tx);
      if (claim) await markExecuted(sqlIn(tx), claim);
      return done;
    }, options);
    if (hasWork) db.eventSignal.raise();
    return result;
  });
}

/** Runs one Prisma statement that changes rows, with the same guarantees as `transact` but at a lower cost. */
export function runWrite<Result>(db: Database, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return currentCall.getStore()?.claim ? transact(db, work) : retryDeadlocks(() => work(db));
}
