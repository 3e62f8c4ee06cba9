/** The line that verified callbacks of one workspace stand in, in the memory of this process. */
import { serviceUnavailable } from '../../../core/errors.ts';

/** Less than half of the database connections that a process has unless its installation sets another number. */
const MAX_AT_ONCE = 4;
/** More would wait for longer than providers do. */
const MAX_WAITING = 100;

/** A full queue is worked off in less. */
const RETRY_AFTER_SECONDS = 5;

type Line = { running: number; waiting: (() => void)[] };

const lines = new Map<number, Line>();

/**
 * Runs `work` when at most three others of the workspace run, in the order of the calls: whatever one workspace is told,
 * the others have database connections left. Of the workspace and not of the connection, since a workspace may have any
 * number of these, and what they tell is applied one after the other anyway. Throws SERVICE_UNAVAILABLE (503) where 100
 * wait already.
 */
export async function inLine<Result>(workspaceId: number, work: () => Promise<Result>): Promise<Result> {
  const line = lines.get(workspaceId) ?? { running: 0, waiting: [] };
  if (line.waiting.length >= MAX_WAITING)
    throw serviceUnavailable('Too many callbacks at once: try again in a moment', RETRY_AFTER_SECONDS);
  lines.set(workspaceId, line);
  if (line.running >= MAX_AT_ONCE) await new Promise<void>((resolve) => line.waiting.push(resolve));
  else line.running += 1;
  try {
    return await work();
  } finally {
    // Whoever waits takes the place over.
    const next = line.waiting.shift();
    if (next) next();
    else line.running -= 1;
    if (line.running === 0) lines.delete(workspaceId);
  }
}
