/** How many imports run at a time in this process. Each takes much of it, and workspaces are cheap. */
import { AppError, conflict } from '../../core/errors.ts';

const MAX_RUNNING = 2;

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
      if (running.has(workspaceId)) throw conflict('An import is running in this workspace');
      if (running.size >= MAX_RUNNING)
        throw new AppError('SERVICE_UNAVAILABLE', 'Other imports are running: try again in a moment');
      running.add(workspaceId);
      return () => void running.delete(workspaceId);
    },
  };
}
