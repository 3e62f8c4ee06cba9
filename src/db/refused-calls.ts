/**
 * Why the database is not asked, or no longer. They are no errors of the catalogue, because Prisma replaces an error
 * that has a `code`.
 */

/** The caller has hung up, so nobody waits for the result. */
export class HungUpError extends Error {
  constructor() {
    super('The caller has hung up');
    this.name = 'HungUpError';
  }
}

/** The caller has more calls waiting than may wait. */
export class TooManyCallsError extends Error {
  constructor() {
    super('Too many calls of one caller are waiting');
    this.name = 'TooManyCallsError';
  }
}
