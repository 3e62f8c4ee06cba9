import { currentCall } from './call-bounds.ts';
import { currentTraceId } from './tracing.ts';

/** The logger that all code uses; a pino logger has this type. Never log a secret, a token or a request body. */
export type Log = {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
};

/**
 * Returns a log that adds the id of the request and of the trace to each line that is logged during a call. The log of
 * a request itself has them already.
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

/** The text fields that are logged if something reports an object other than an Error, as the job queue does. */
const LOGGED_FIELDS = ['name', 'message', 'code', 'queue', 'stack'];

/**
 * Logs an error as its type, message, code, stack and causes. Its other properties are left out: those of a database
 * error include the rejected row, those of a connection error the whole connection.
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
