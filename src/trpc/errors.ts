/** Converts errors of procedures to errors of the catalogue, and to the error format of tRPC. */
import type { TRPCError } from '@trpc/server';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import { ZodError } from 'zod';
import { AppError, badField, badRequest, type ErrorCode, requestCutOff, tooManyRequests } from '../core/errors.ts';
import { httpStatusOf, internalError, toProblem } from '../core/problem.ts';
import { toBadRequest } from '../core/validation.ts';
import { HungUpError, TooManyCallsError } from '../db/refused-calls.ts';
import { isUnavailable } from '../db/unavailable.ts';

/** Maps the codes of tRPC's own errors to errors of the catalogue. Any other code means a bug. */
const trpcRefusals: Partial<Record<TRPCError['code'], [ErrorCode, string]>> = {
  BAD_REQUEST: ['BAD_REQUEST', 'Bad request'],
  NOT_FOUND: ['NOT_FOUND', 'Not found'],
  METHOD_NOT_SUPPORTED: ['METHOD_NOT_ALLOWED', 'Method not allowed'],
  PAYLOAD_TOO_LARGE: ['PAYLOAD_TOO_LARGE', 'Request body is too large'],
  UNSUPPORTED_MEDIA_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'Content type must be application/json'],
};

/** Converts the error of a procedure to an error of the catalogue. The details of an unexpected error are hidden. */
export function fromTrpcError(error: TRPCError): AppError {
  if (error.cause instanceof AppError) return error.cause;
  if (error.code === 'PARSE_ERROR') return invalidJson(error);
  if (error.code === 'BAD_REQUEST' && error.cause instanceof ZodError) return toBadRequest(error.cause);
  // The adapter throws this for a body that is not JSON.
  if (error.code === 'BAD_REQUEST' && error.cause instanceof SyntaxError) return invalidJson(error);
  // An error of tRPC's own checks. Its message describes the problem.
  if (error.code === 'BAD_REQUEST' && error.cause === undefined) return badRequest(error.message);
  const refusal = trpcRefusals[error.code];
  if (refusal) return new AppError(...refusal, { cause: error });
  return fromUnexpected(error.cause ?? error);
}

function invalidJson(cause: unknown): AppError {
  return badField('', 'Request body must be valid JSON', cause);
}

/** Converts any other error: 503 if the database is unavailable or overloaded, 500 for a bug. */
export function fromUnexpected(cause: unknown): AppError {
  if (cause instanceof HungUpError) return requestCutOff();
  if (cause instanceof TooManyCallsError)
    return tooManyRequests('Too many requests at once: wait for earlier requests to finish', 1);
  return isUnavailable(cause)
    ? new AppError('SERVICE_UNAVAILABLE', 'The service is busy: try again in a moment', { retryAfterSeconds: 2, cause })
    : internalError(cause);
}

/**
 * Returns the error in tRPC's format. `data` contains the error body of REST, the HTTP status and the procedure's path.
 */
export function toTrpcShape(error: TRPCError, path: string | undefined, requestId: string) {
  const known = fromTrpcError(error);
  return {
    message: known.message,
    code: toTrpcCode(known.code),
    data: { ...toProblem(known, requestId), httpStatus: httpStatusOf(known), path },
  };
}

/** Most codes of the catalogue have the same name in tRPC. */
function toTrpcCode(code: ErrorCode): number {
  const key = code === 'METHOD_NOT_ALLOWED' ? 'METHOD_NOT_SUPPORTED' : code;
  return key in TRPC_ERROR_CODES_BY_KEY
    ? TRPC_ERROR_CODES_BY_KEY[key as keyof typeof TRPC_ERROR_CODES_BY_KEY]
    : TRPC_ERROR_CODES_BY_KEY.INTERNAL_SERVER_ERROR;
}
