/** Failures as the command line reports them. */
import { type Issue, isLynxroomError } from '../../client/src/index.ts';
import { CliError, ExitCode } from './command.ts';

export type Failure = {
  message: string;
  exitCode: number;
  /** The code, HTTP status and request of an error response of the service. */
  code?: string;
  status?: number;
  request_id?: string;
  issues?: readonly Issue[];
};

/** What to add to messages of the service that give neither the reason nor a remedy. */
const hints: Readonly<Record<string, string>> = {
  Unauthorized: ': sign in with lynxroom login',
  Forbidden: ': the account or API key that lynxroom whoami shows may not do this. API keys cannot manage API keys',
};

/** Describes any error. An unexpected one is a bug, which still gets one line and no stack trace. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof CliError) return { message: error.message, exitCode: error.exitCode };
  if (isLynxroomError(error)) {
    const { status, code, message, issues, requestId } = error;
    const exitCode = status === 401 ? ExitCode.notSignedIn : ExitCode.failed;
    return {
      message: `${message}${hints[message] ?? ''}`,
      exitCode,
      code,
      status,
      ...(status >= 500 && { request_id: requestId }),
      ...(issues.length > 0 && { issues }),
    };
  }
  const causes = causesOf(error);
  const reason = reasonOf(causes.at(-1));
  if (causes.some(isConnectionFailure))
    return { message: `The service does not answer: ${reason}`, exitCode: ExitCode.unreachable };
  if (causes.some(({ name }) => name === 'TRPCClientError'))
    return { message: `The response did not come from a Lynxroom service: ${reason}`, exitCode: ExitCode.unreachable };
  return { message: reason || String(error), exitCode: ExitCode.failed };
}

/** The error and its causes, outermost first. The last one says what happened, such as ECONNREFUSED. */
function causesOf(error: unknown): Error[] {
  if (error instanceof AggregateError && error.errors.length > 0) return [error, ...causesOf(error.errors[0])];
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

function reasonOf(error: Error | undefined): string {
  return error === undefined ? '' : error.message || error.name;
}

/**
 * Whether this is the error that Node's `fetch` throws when there is no response, or the client's ConnectionError for
 * an upload.
 */
function isConnectionFailure({ name, message }: Error): boolean {
  return name === 'ConnectionError' || (name === 'TypeError' && message === 'fetch failed');
}
