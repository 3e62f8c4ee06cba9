/** The errors that calls of the client reject with. */
import { TRPCClientError } from '@trpc/client';
import type { AppRouter, ErrorCode } from './contract.ts';

/** An invalid field of the input. */
export type Issue = {
  /** The field, with dots between levels, such as `hours.0.from`. Empty for the body as a whole. */
  path: string;
  message: string;
};

/** The body of an error response. A proxy may answer with a different body, so every field is optional. */
type ErrorBody = Partial<{ message: string; code: ErrorCode; request_id: string; issues: readonly Issue[] }>;

type TrpcOptions = NonNullable<ConstructorParameters<typeof TRPCClientError<AppRouter>>[1]>;

/** An error response of the service. Procedures and file operations reject with it. */
export class LynxroomError extends TRPCClientError<AppRouter> {
  /** HTTP status. */
  readonly status: number;
  /** `UNKNOWN` if the response was not sent by the service, but for example by a proxy. */
  readonly code: ErrorCode | 'UNKNOWN';
  /** Identifies the request in the server's log. Empty if the response was not sent by the service. */
  readonly requestId: string;
  /** The invalid fields of the input; empty for other errors. */
  readonly issues: readonly Issue[];

  private constructor(message: string, status: number, body: ErrorBody, options?: TrpcOptions) {
    super(message, options);
    // The constructor of TRPCClientError sets its own prototype.
    Object.setPrototypeOf(this, LynxroomError.prototype);
    this.name = 'LynxroomError';
    this.status = status;
    this.code = body.code ?? 'UNKNOWN';
    this.requestId = body.request_id ?? '';
    this.issues = body.issues ?? [];
  }

  /** Creates the error of an HTTP response with this status and parsed body. */
  static ofResponse(status: number, parsed: unknown): LynxroomError {
    // Every field of an ErrorBody is optional, so any object can be treated as one.
    const body = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as ErrorBody;
    return new LynxroomError(body.message ?? `The request failed with status ${status}`, status, body);
  }

  /** Converts the error of a procedure. Returns it unchanged if it is not a response of the service. */
  static ofProcedure(error: TRPCClientError<AppRouter>): TRPCClientError<AppRouter> {
    const { data, shape, meta } = error;
    if (error instanceof LynxroomError || !data || !shape) return error;
    return new LynxroomError(error.message, data.httpStatus, data, { result: { error: shape }, ...(meta && { meta }) });
  }
}

/**
 * Whether a call was rejected with an error response of the service. Other errors are failed connections, aborted
 * requests, and responses that are not from the service.
 */
export function isLynxroomError(error: unknown): error is LynxroomError {
  // By name, since a page may load this package twice.
  return error instanceof Error && error.name === 'LynxroomError';
}

/** The connection broke before the server had answered. It is unknown whether the request took effect. */
export class ConnectionError extends Error {
  constructor(what: string, options: { cause?: unknown } = {}) {
    super(`The connection to the server was lost ${what}`, options);
    this.name = 'ConnectionError';
  }
}

/**
 * Reads the JSON of an answer; null if an error response has none. Rejects with ConnectionError if another answer
 * breaks off or is no object, as when a proxy answers.
 */
export async function readJson(response: Pick<Response, 'ok' | 'json'>): Promise<unknown> {
  let cause: unknown;
  try {
    const body: unknown = await response.json();
    if (!response.ok || (typeof body === 'object' && body !== null)) return body;
  } catch (error) {
    cause = error;
  }
  if (!response.ok) return null;
  throw new ConnectionError('within its answer', { cause });
}
