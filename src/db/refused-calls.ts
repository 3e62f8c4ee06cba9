/**
 * Reasons why a statement is not sent, or is cancelled, and why it gets no answer. They are not of the class
 * `AppError`, because Prisma replaces an error that has a `code`.
 */

/** The caller has hung up, so nobody is waiting for the result. */
export class HungUpError extends Error {
  constructor() {
    super('The caller has hung up');
    this.name = 'HungUpError';
  }
}

/** The caller already has the maximum number of calls waiting for a connection. */
export class TooManyCallsError extends Error {
  constructor() {
    super('Too many calls from one caller are waiting');
    this.name = 'TooManyCallsError';
  }
}

/** A statement had no result in time, or no connection was free in time. */
export class DatabaseTimeoutError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DatabaseTimeoutError';
  }
}

/** A connection was lost, or none could be opened. The cause is the error of `pg`, which has neither code nor class. */
export class ConnectionLostError extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
    this.name = 'ConnectionLostError';
  }
}

/**
 * Converts an error of a connection that is lost or cannot be opened. Those that `pg` creates itself have neither code
 * nor class, and get a class. Errors of PostgreSQL and of the socket, and our own, are returned unchanged.
 */
export function toConnectionError(error: Error): Error {
  return error.constructor === Error && !('code' in error) ? new ConnectionLostError(error) : error;
}
