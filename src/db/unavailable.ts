/** Distinguishes an unavailable or overloaded database from a bug in a statement. */
import { Prisma } from './generated/client.ts';

/** The kinds of errors that the driver adapter reports for connections. */
const kinds = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
  'TlsConnectionError',
]);

/**
 * PostgreSQL's own codes (Appendix A of its documentation): connection exceptions, insufficient resources (disk,
 * memory, connections), operator intervention (shutdown, restart, a cancelled statement), and a lock that was not free
 * in time.
 */
const SQL_STATE = /^(?:08|53|57)\w{3}$|^55P03$/;

/** Prisma's codes: not reachable, connection closed, no connection in time, no transaction in time. */
const prismaCodes = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2037']);

/**
 * The beginnings of the messages of our errors, and of the connection errors of `pg`. None of these errors have a code
 * or a class of their own.
 */
const pgMessages = [
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed',
  'Statement timeout',
];

type AdapterError = { kind?: unknown; originalCode?: unknown };

/**
 * Whether a statement failed because the database is down, restarting, full, locked or overloaded. The same statement
 * may succeed in a moment.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof Prisma.PrismaClientKnownRequestError)
    return prismaCodes.has(error.code) || isUnavailableInAdapter(error.meta?.driverAdapterError);
  if (!(error instanceof Error)) return false;
  return (
    isUnavailableInAdapter(error) ||
    isConnectionCode(error) ||
    pgMessages.some((text) => error.message.startsWith(text))
  );
}

/** Checks an error of the driver adapter. Its cause has the kind and PostgreSQL's code. */
function isUnavailableInAdapter(error: unknown): boolean {
  const cause: unknown = (error as { cause?: unknown } | null | undefined)?.cause;
  if (typeof cause !== 'object' || cause === null) return false;
  const { kind, originalCode } = cause as AdapterError;
  return kinds.has(String(kind)) || SQL_STATE.test(String(originalCode));
}

/** Checks an error of `pg` or of its socket. */
function isConnectionCode(error: Error & { code?: unknown }): boolean {
  const code = String(error.code);
  return SQL_STATE.test(code) || ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ENOTFOUND'].includes(code);
}
