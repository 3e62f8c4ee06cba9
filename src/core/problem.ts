/** Converts errors to HTTP responses, for all transports. */
import { AppError, type ErrorCode, type Issue, statusOf } from './errors.ts';

/** The body of every error response. `error` and `message` have the same text; `code` is for programs. */
export type Problem = {
  error: string;
  message: string;
  code: ErrorCode;
  request_id: string;
  issues?: readonly Issue[];
};

/** Returns the headers of an error response. */
export function headersOf({ code, retryAfterSeconds, challenge }: AppError): Record<string, string> {
  return {
    ...(statusOf[code] === 401 && { 'www-authenticate': challenge ? `Bearer ${challenge}` : 'Bearer' }),
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  };
}

/** Creates the error for an unexpected failure. The details are in the log, under the same request id. */
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
