/** What code below the doors may log with; a pino logger fits. Never put a secret, a token or a body into it. */
export type Log = {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
};
