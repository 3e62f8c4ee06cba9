/** The database as the rest of the code sees it: one Prisma client over one pool of `pg` connections. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { Prisma, PrismaClient } from './generated/client.ts';

export { Prisma };

export type Database = PrismaClient;

/** A transaction, or the database itself where a function may run in either. */
export type Tx = Prisma.TransactionClient;

const TRANSACTION_TIMEOUT_MS = 30_000;
const POOL_WAIT_MS = 10_000;

const MAX_TRIES = 5;
const RETRY_PAUSE_MS = 50;

/**
 * Opens a pool of at most `poolSize` connections. Statements are prepared once a connection and planned once
 * (generic plans: planning each time costs 1 to 3 ms for the library list), and run without JIT, whose compilation
 * costs more than our statements. Their time zone is UTC, which the adapter takes for granted: it writes and reads
 * timestamps without their offset.
 */
export function openDatabase(options: {
  connectionString: string;
  poolSize: number;
  /** How long a query waits for a connection, in milliseconds. */
  poolWaitMs?: number;
  onError: (error: Error) => void;
}): Database {
  const { poolWaitMs = POOL_WAIT_MS } = options;
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    max: options.poolSize,
    connectionTimeoutMillis: poolWaitMs,
    options: '-c jit=off -c plan_cache_mode=force_generic_plan -c timezone=UTC',
  });
  // Without a listener an idle connection that the server closes would end the process.
  pool.on('error', options.onError);
  const adapter = new PrismaPg(pool, {
    disposeExternalPool: true,
    statementNameGenerator: ({ sql }) => createHash('sha1').update(sql).digest('base64url'),
  });
  return new PrismaClient({
    adapter,
    errorFormat: 'minimal',
    transactionOptions: { maxWait: poolWaitMs, timeout: TRANSACTION_TIMEOUT_MS },
  });
}

/** Whether an error says that a unique key is already there. */
export function isUniqueViolation(error: unknown): boolean {
  return isPrismaError(error, 'P2002') || isRawError(error, /"originalCode":"23505"/);
}

function isPrismaError(error: unknown, code: string): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === code;
}

/** What PostgreSQL refuses of our own SQL comes under one code, with its own (SQLSTATE) inside. */
function isRawError(error: unknown, sqlState: RegExp): boolean {
  return isPrismaError(error, 'P2010') && sqlState.test(JSON.stringify((error as { meta?: unknown }).meta));
}

/** Whether our own SQL was refused because its row excludes one that is there. */
export function isExclusionViolation(error: unknown): boolean {
  return isRawError(error, /\b23P01\b/);
}

/** Whether an error says that a row referred to is not there (any more). */
export function isForeignKeyViolation(error: unknown): boolean {
  return isPrismaError(error, 'P2003');
}

/** Whether an error says that no connection was free in time: more is asked of the database than it can do. */
export function isOverload(error: unknown): boolean {
  return isPrismaError(error, 'P2024') || isPrismaError(error, 'P2028') || isPoolTimeout(error);
}

/** Prisma lets the pool's own error through for single statements, and that has a text and no code. */
function isPoolTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect';
}

/** Runs one statement, again when PostgreSQL chose it as the victim of a deadlock. */
export async function retryDeadlocks<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isDeadlock(error) || tries === MAX_TRIES) throw error;
      // Whoever was spared finishes meanwhile; at random, so that two victims do not meet again.
      await sleep(Math.random() * tries * RETRY_PAUSE_MS);
    }
  }
}

function isDeadlock(error: unknown): boolean {
  return isPrismaError(error, 'P2034') || isRawError(error, /\b(?:40001|40P01)\b/);
}

/**
 * Runs `work` in a transaction, again when PostgreSQL chose it as the victim of a deadlock: so `work` must have no
 * effects outside the transaction.
 */
export function transact<Result>(db: Database, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return retryDeadlocks(() => db.$transaction(work));
}
