/**
 * The database could not be created, or PostgreSQL could not be started or stopped. The message is a single line,
 * written for the person who runs the server.
 */
export class EmbeddedPostgresError extends Error {
  constructor(message: string, options: { detail?: string; cause?: unknown } = {}) {
    const detail = options.detail?.trim() ?? '';
    super(
      detail === '' ? message : `${message}: ${detail}`,
      options.cause === undefined ? {} : { cause: options.cause },
    );
    this.name = 'EmbeddedPostgresError';
  }
}

/** Another major version of PostgreSQL created the cluster. Nothing in it was changed. */
export class IncompatibleClusterError extends EmbeddedPostgresError {
  constructor(clusterDir: string, created: string, runs: string) {
    super(
      `The database in ${clusterDir} was created by PostgreSQL ${created}, and this program runs PostgreSQL ${runs}`,
    );
    this.name = 'IncompatibleClusterError';
  }
}

/** Joins the last non-empty lines of a program's output into one line. */
export function joinLastLines(output: string, count = 4): string {
  return output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(-count)
    .join(' | ');
}

/** Returns the message of an error. For a SuppressedError, joins the messages of all errors that it contains. */
export function messageOf(error: unknown): string {
  if (error instanceof SuppressedError) return `${messageOf(error.suppressed)}; ${messageOf(error.error)}`;
  return error instanceof Error ? error.message : String(error);
}

/** Whether an error has this system error code, such as `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
