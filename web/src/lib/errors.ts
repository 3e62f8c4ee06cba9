/** What an error says to the user. */
import { type Issue, isLynxroomError } from '@lynxroom/client';
import { readDisplay } from './display.ts';

export type Described = {
  message: string;
  /** That of the API, or `ERROR`. */
  code: string;
  /**
   * Identifies the request in the log of the service. Only if the service failed: nobody else has to read the log.
   * Null on public pages, whose guests cannot.
   */
  requestId: string | null;
  issues: readonly Issue[];
};

export function describeError(error: unknown): Described {
  if (isLynxroomError(error)) {
    const isShown = error.status >= 500 && !isPublicPage();
    const own = readDisplay().errors.get(error.code);
    const message = own ?? error.message;
    // The messages about fields are English too.
    const issues = own === undefined ? error.issues : error.issues.map(({ path }) => ({ path, message: own }));
    return { message, code: error.code, requestId: (isShown && error.requestId) || null, issues };
  }
  return { message: toMessage(error), code: 'ERROR', requestId: null, issues: [] };
}

/** Whether this is an error of the service with this code. */
export function refusalWith(error: unknown, code: string): boolean {
  return isLynxroomError(error) && error.code === code;
}

/** Whether this page is for guests too. */
function isPublicPage(): boolean {
  return /^\/(?:embed\/)?(?:book|room)\//.test(location.pathname);
}

function toMessage(error: unknown): string {
  const { texts } = readDisplay();
  if (!(error instanceof Error)) return texts['error.unknown'];
  // What browsers say when they could not connect.
  const isConnection =
    /failed to fetch|networkerror|load failed/i.test(error.message) || error.name === 'ConnectionError';
  return isConnection ? texts['error.connection'] : error.message;
}
