/** Failures as the command line reports them. */
import { type Issue, isLynxroomError } from '../../client/src/index.ts';
import { CliError, ExitCode } from './command.ts';

export type Failure = {
  message: string;
  exitCode: number;
  /** The code, HTTP status and request of an error that the service answered. */
  code?: string;
  status?: number;
  request_id?: string;
  issues?: readonly Issue[];
};

/** Describes any error. An unexpected one is a bug, which still gets one line and no stack trace. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof CliError) return { message: error.message, exitCode: error.exitCode };
  if (isLynxroomError(error)) {
    const { status, code, message, issues, requestId } = error;
    const exitCode = status === 401 ? ExitCode.notSignedIn : ExitCode.failed;
    const hint = status === 401 && message === 'Unauthorized' ? ': sign in with lynxroom login' : '';
    return {
      message: `${message}${hint}`,
      exitCode,
      code,
      status,
      ...(status >= 500 && { request_id: requestId }),
      ...(issues.length > 0 && { issues }),
    };
  }
  const reason = reasonOf(error);
  if (isConnectionFailure(error))
    return { message: `The service does not answer: ${reason}`, exitCode: ExitCode.unreachable };
  return { message: reason, exitCode: ExitCode.failed };
}

/** What a failed `fetch` or tRPC call throws. Both keep the reason in their cause. */
function isConnectionFailure(error: unknown): boolean {
  return error instanceof Error && ['TRPCClientError', 'ConnectionError', 'TypeError'].includes(error.name);
}

/** Returns the message of the innermost cause that has one: it says what happened, such as ECONNREFUSED. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  return error.message || error.name;
}
