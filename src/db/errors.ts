/**
 * Tells the errors of the database apart: by PostgreSQL's code (SQLSTATE), by Prisma's code, or by their class, never
 * by their text. Everything else asks this module.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Prisma } from './generated/client.ts';
import { ConnectionLostError, DatabaseTimeoutError } from './refused-calls.ts';

const MAX_ATTEMPTS = 5;
const RETRY_BACKOFF_MS = 50;

/** PostgreSQL's codes (Appendix A of its documentation), and the codes that Prisma's models have for the same error. */
const kinds = {
  unique: { sqlStates: ['23505'], prisma: 'P2002' },
  foreignKey: { sqlStates: ['23503'], prisma: 'P2003' },
  exclusion: { sqlStates: ['23P01'], prisma: undefined },
  /** A serialization failure or a deadlock. */
  deadlock: { sqlStates: ['40001', '40P01'], prisma: 'P2034' },
  invalidParameter: { sqlStates: ['22023'], prisma: undefined },
} as const;

/**
 * The codes of a database that is down or overloaded: connection exceptions, insufficient resources (disk, memory,
 * connections), operator intervention (shutdown, restart, a cancelled statement), and a lock that was not free in time.
 */
const UNAVAILABLE_CLASSES = ['08', '53', '57'];
const LOCK_NOT_AVAILABLE = '55P03';

/** Prisma's codes: not reachable, connection closed, no connection in time, no transaction in time. */
const unavailableInPrisma = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2037']);

/** The kinds of errors that the driver adapter reports for connections. */
const unavailableInAdapter = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
  'TlsConnectionError',
]);

const unavailableSockets = new Set(['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ENOTFOUND']);

/** PostgreSQL refused to begin a transaction, so its statements have changed nothing and can be repeated. */
export class NotBegunError extends Error {}

/** Whether an error is a violation of a unique constraint. */
export function isUniqueViolation(error: unknown): boolean {
  return isOfKind(error, 'unique');
}

/** Whether an error is a violation of an exclusion constraint. */
export function isExclusionViolation(error: unknown): boolean {
  return isOfKind(error, 'exclusion');
}

/** Whether an error is a violation of a foreign key: the referenced row does not exist. */
export function isForeignKeyViolation(error: unknown): boolean {
  return isOfKind(error, 'foreignKey');
}

/** Whether PostgreSQL rejected the value of a setting. */
export function isInvalidParameter(error: unknown): boolean {
  return isOfKind(error, 'invalidParameter');
}

/** Whether PostgreSQL rejected a statement that was sent with `pg`. */
export function isDatabaseError(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError;
}

/** The position of the error in the SQL, in characters from 1. Undefined if PostgreSQL reports none. */
export function positionOf(error: unknown): number | undefined {
  const position = error instanceof pg.DatabaseError ? Number(error.position) : Number.NaN;
  return Number.isInteger(position) ? position : undefined;
}

/**
 * Whether a statement failed because the database is down, restarting, full, locked or overloaded. The same statement
 * may succeed in a moment.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseTimeoutError || error instanceof ConnectionLostError) return true;
  const { sqlState, prisma, kind, socket } = codesOf(error);
  return (
    (sqlState !== undefined &&
      (UNAVAILABLE_CLASSES.includes(sqlState.slice(0, 2)) || sqlState === LOCK_NOT_AVAILABLE)) ||
    (prisma !== undefined && unavailableInPrisma.has(prisma)) ||
    (kind !== undefined && unavailableInAdapter.has(kind)) ||
    (socket !== undefined && unavailableSockets.has(socket))
  );
}

/**
 * Runs a statement or a whole transaction, and retries it with backoff if PostgreSQL cancels it to resolve a deadlock.
 */
export async function retryDeadlocks<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isOfKind(error, 'deadlock') || attempt === MAX_ATTEMPTS) throw error;
      // The random delay keeps two cancelled transactions from blocking each other again.
      await sleep(Math.random() * attempt * RETRY_BACKOFF_MS);
    }
  }
}

function isOfKind(error: unknown, kind: keyof typeof kinds): boolean {
  const { sqlStates, prisma } = kinds[kind];
  const codes = codesOf(error);
  return sqlStates.some((sqlState) => sqlState === codes.sqlState) || (prisma !== undefined && prisma === codes.prisma);
}

/** `kind` is the adapter's name for the error. */
type Codes = { sqlState?: string | undefined; prisma?: string; kind?: string | undefined; socket?: string | undefined };

/** The codes of an error from `pg`, from its socket, from Prisma's driver adapter, or from Prisma. */
function codesOf(error: unknown): Codes {
  if (error instanceof pg.DatabaseError) return { sqlState: error.code };
  if (error instanceof Prisma.PrismaClientKnownRequestError)
    return { ...codesOf(error.meta?.driverAdapterError), prisma: error.code };
  if (!(error instanceof Error)) return {};
  // The error of the adapter has the codes in its cause. Its class is in a package that only the adapter depends on.
  const { cause } = error;
  if (typeof cause === 'object' && cause !== null && 'kind' in cause)
    return { kind: textIn(cause, 'kind'), sqlState: textIn(cause, 'originalCode') };
  return { socket: textIn(error, 'code') };
}

function textIn(value: object, name: string): string | undefined {
  const found: unknown = Reflect.get(value, name);
  return typeof found === 'string' ? found : undefined;
}
