/** The one renderer of failures: what every door puts into its answer. */
import { AppError, type Issue, statusOf } from './errors.ts';

/** The error body of every door. `error` and `message` carry the same text; `code` is for programs. */
export type Problem = {
  error: string;
  message: string;
  code: string;
  request_id: string;
  issues?: readonly Issue[];
};

/** The headers that a failure is sent with, whatever the transport. */
export function headersOf({ code, retryAfterSeconds }: AppError): Record<string, string> {
  return {
    ...(code === 'UNAUTHORIZED' && { 'www-authenticate': 'Bearer' }),
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  };
}

/** What is left of an unexpected failure: the log has the rest, under the same request id. */
export function internalError(cause: unknown): AppError {
  return new AppError('INTERNAL_SERVER_ERROR', 'Internal server error', { cause });
}

export function httpStatusOf(error: AppError): number {
  return statusOf[error.code];
}

export function toProblem(error: AppError, requestId: string): Problem {
  return {
    error: error.message,
    message: error.message,
    code: error.code,
    request_id: requestId,
    ...(error.issues && { issues: error.issues }),
  };
}
