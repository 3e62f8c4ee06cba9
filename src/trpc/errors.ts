/** Converts errors thrown by procedures to errors from the catalogue, and to tRPC's error format. */
import type { TRPCError } from '@trpc/server';
import { type TRPC_ERROR_CODE_NUMBER, TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import { ZodError } from 'zod';
import { AppError, badRequest, type ErrorCode, type Issue, requestCutOff } from '../core/errors.ts';
import { tooManyCalls } from '../core/fair-shares.ts';
import { httpStatusOf, internalError, toProblem } from '../core/problem.ts';
import { toBadRequest } from '../core/validation.ts';
import { isUnavailable } from '../db/errors.ts';
import { HungUpError, TooManyCallsError } from '../db/refused-calls.ts';

/** Converts the error of a procedure to an error from the catalogue. The details of an unexpected error are hidden. */
export function fromTrpcError(error: TRPCError): AppError {
  if (error.cause instanceof AppError) return error.cause;
  // tRPC throws this error for input that does not match its schema.
  if (error.code === 'BAD_REQUEST')
    return error.cause instanceof ZodError ? toBadRequest(error.cause) : badRequest('Bad request');
  return fromUnexpected(error.cause ?? error);
}

/**
 * Converts any other error: 400 if the caller has hung up, 429 for too many concurrent calls, 503 if the database is
 * unavailable or overloaded, and 500 for a bug.
 */
export function fromUnexpected(cause: unknown): AppError {
  if (cause instanceof HungUpError) return requestCutOff();
  if (cause instanceof TooManyCallsError) return tooManyCalls();
  return isUnavailable(cause)
    ? new AppError('SERVICE_UNAVAILABLE', 'The service is busy: try again in a moment', { retryAfterSeconds: 2, cause })
    : internalError(cause);
}

/**
 * An error in tRPC's format. `data` contains the error body of REST, the HTTP status and the procedure's path. It is an
 * interface, because clients see its name in the types of every procedure.
 */
export interface ErrorShape {
  message: string;
  code: TRPC_ERROR_CODE_NUMBER;
  data: {
    error: string;
    message: string;
    code: ErrorCode;
    request_id: string;
    issues?: readonly Issue[];
    httpStatus: number;
    path: string | undefined;
  };
}

export function toTrpcShape(error: AppError, path: string | undefined, requestId: string): ErrorShape {
  return {
    message: error.message,
    code: toTrpcCode(error.code),
    data: { ...toProblem(error, requestId), httpStatus: httpStatusOf(error), path },
  };
}

/** Most error codes have the same name in tRPC. */
function toTrpcCode(code: ErrorCode): TRPC_ERROR_CODE_NUMBER {
  const key = code === 'METHOD_NOT_ALLOWED' ? 'METHOD_NOT_SUPPORTED' : code;
  return key in TRPC_ERROR_CODES_BY_KEY
    ? TRPC_ERROR_CODES_BY_KEY[key as keyof typeof TRPC_ERROR_CODES_BY_KEY]
    : TRPC_ERROR_CODES_BY_KEY.INTERNAL_SERVER_ERROR;
}
