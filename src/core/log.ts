/** What code below the doors may log with; a pino logger fits. Never put a secret, a token or a body into it. */
export type Log = {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
};

const MAX_CAUSES = 5;

/**
 * How a logger writes errors: what they say and where they come from, through their causes, and none of their other
 * fields. A database's error carries the row that it refused there, and a connection's error the whole connection.
 */
export const logSerializers = { err: (error: unknown) => describeError(error) };

function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' && { code }),
    stack: error.stack,
    ...(error.cause instanceof Error && depth < MAX_CAUSES && { cause: describeError(error.cause, depth + 1) }),
  };
}
