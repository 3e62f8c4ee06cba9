/** The embedded PostgreSQL could not be made, started or stopped. The message is for the person who starts the server. */
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

/** The last few lines of a program's output on one line. */
export function lastLines(output: string, count = 4): string {
  return output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(-count)
    .join(' | ');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
