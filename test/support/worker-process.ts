/** The worker as a process of its own, as `npm run worker` runs it. */
import { type ScriptProcess, startScript } from './script-process.ts';

/** `ready` resolves when the worker has started, which it logs at level info. */
export type WorkerProcess = ScriptProcess<true>;

/** Starts the worker with these environment variables, as `startScript` does. */
export function startWorkerProcess(env: Record<string, string>): WorkerProcess {
  return startScript('src/worker.ts', env, (output) => output.includes('"msg":"Worker started"') || undefined);
}
