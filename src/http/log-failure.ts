import type { FastifyBaseLogger } from 'fastify';
import type { AppError } from '../core/errors.ts';
import { httpStatusOf } from '../core/problem.ts';

/**
 * Logs an error that is sent to a caller. A bug is logged in full. An outage or overload is logged without a stack,
 * because it affects many requests for the same reason. Client errors (4xx) are not logged here: the request's own log
 * entry contains the status.
 */
export function logFailure(log: FastifyBaseLogger, failure: AppError): void {
  if (httpStatusOf(failure) < 500) return;
  const { cause } = failure;
  if (failure.code === 'SERVICE_UNAVAILABLE')
    log.warn({ reason: cause instanceof Error ? cause.message : undefined }, failure.message);
  else log.error({ err: cause ?? failure }, failure.message);
}
