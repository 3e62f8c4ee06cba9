/** How long statements may take. Without one of these functions, the limits are those of a request. */
import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * `steps` is for work that consists of many statements, such as an import: each has the usual limit, but their total
 * has none. `long` is for single statements that read or change a lot of data.
 */
export type TimeLimit = 'request' | 'steps' | 'long';

/** How long a statement of long work may take, in milliseconds. */
export const LONG_STATEMENT_MS = 5 * 60_000;

const currentLimit = new AsyncLocalStorage<TimeLimit>();

export function getTimeLimit(): TimeLimit {
  return currentLimit.getStore() ?? 'request';
}

/** Runs work whose statements may take a long time, such as deleting everything in a workspace. */
export function allowLongStatements<Result>(work: () => Result): Result {
  return currentLimit.run('long', work);
}

/** Runs work that consists of many short statements. */
export function allowManyStatements<Result>(work: () => Result): Result {
  return currentLimit.run('steps', work);
}
