/** How many imports run at a time in this process. Each takes much of it, and workspaces are cheap. */
import { conflict, serviceUnavailable } from '../../core/errors.ts';

const MAX_RUNNING = 2;
const RETRY_AFTER_SECONDS = 10;

export type ImportSlots = {
  /**
   * Lets an import into this workspace begin, and returns what must be called when it has ended. Throws 409 while
   * another one runs there, and 503 while as many run as may.
   */
  claim(workspaceId: number): () => void;
};

export function createImportSlots(): ImportSlots {
  const running = new Set<number>();
  return {
    claim(workspaceId) {
      if (running.has(workspaceId))
        throw conflict('An import is running in this workspace', { retryAfterSeconds: RETRY_AFTER_SECONDS });
      if (running.size >= MAX_RUNNING)
        throw serviceUnavailable('Other imports are running: try again in a moment', RETRY_AFTER_SECONDS);
      running.add(workspaceId);
      return () => void running.delete(workspaceId);
    },
  };
}
