import { currentCall } from './call-bounds.ts';
import { currentTraceId } from './tracing.ts';

/** The logger type that all code uses. A pino logger satisfies it. Never log a secret, a token or a request body. */
export type Log = {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
};

/**
 * Returns a logger that adds the request id and the trace id to each line that is logged during a call. The logger of a
 * request already adds them.
 */
export function withCallIds(log: Log): Log {
  return {
    debug: (details, message) => log.debug({ ...callIds(), ...details }, message),
    info: (details, message) => log.info({ ...callIds(), ...details }, message),
    warn: (details, message) => log.warn({ ...callIds(), ...details }, message),
    error: (details, message) => log.error({ ...callIds(), ...details }, message),
  };
}

function callIds(): object {
  const call = currentCall.getStore();
  const traceId = currentTraceId();
  return { ...(call && { reqId: call.requestId }), ...(traceId !== null && { trace_id: traceId }) };
}

const MAX_CAUSES = 5;

/**
 * If a thrown object is not an Error, only these fields are logged, and only if they are strings. The job queue reports
 * such objects.
 */
const LOGGED_FIELDS = ['name', 'message', 'code', 'queue', 'stack'];

/**
 * Logs an error as its type, message, code, stack and causes. Leaves out its other properties: a database error
 * contains the rejected row, and a connection error the whole connection.
 */
export const logSerializers = { err: (error: unknown) => describeError(error) };

function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return describeOther(error);
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' && { code }),
    stack: error.stack,
    ...(error.cause instanceof Error && depth < MAX_CAUSES && { cause: describeError(error.cause, depth + 1) }),
  };
}

function describeOther(error: unknown): object {
  if (typeof error !== 'object' || error === null) return { type: typeof error, message: String(error) };
  const texts = Object.entries(error).filter(
    ([name, value]) => LOGGED_FIELDS.includes(name) && typeof value === 'string',
  );
  return {
    type: 'object',
    message: `An object with the fields ${Object.keys(error).join(', ')}`,
    ...Object.fromEntries(texts),
  };
}
