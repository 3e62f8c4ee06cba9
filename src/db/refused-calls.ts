/**
 * Reasons why a statement is not sent, or is cancelled. They are not of the class `AppError`, because Prisma replaces
 * an error that has a `code`.
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
