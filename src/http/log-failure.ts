import type { FastifyBaseLogger } from 'fastify';
import type { AppError } from '../core/errors.ts';
import { httpStatusOf } from '../core/problem.ts';

/**
 * Logs a failure that a caller is told of. A fault of the service is logged in full. An outage or an overload affects
 * many requests for the same reason, so it is one line without a stack. What the caller did wrong is in the request
 * line.
 */
export function logFailure(log: FastifyBaseLogger, failure: AppError): void {
  if (httpStatusOf(failure) < 500) return;
  const { cause } = failure;
  if (failure.code === 'SERVICE_UNAVAILABLE')
    log.warn({ reason: cause instanceof Error ? cause.message : undefined }, failure.message);
  else log.error({ err: cause ?? failure }, failure.message);
}
