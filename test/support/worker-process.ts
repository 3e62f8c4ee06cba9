/** The worker as a process of its own, as `npm run worker` runs it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const bare = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', LANG: 'C.UTF-8' };

export type WorkerProcess = {
  child: ChildProcess;
  /** Everything that it has written so far. */
  output(): string;
  /** Resolves when it works; rejects with its output when it ends before. Needs LOG_LEVEL info, which is the default. */
  ready: Promise<void>;
  /** Resolves with the exit status, null after a signal. */
  ended: Promise<number | null>;
  /** Sends it a signal, if it still runs, and resolves as `ended` does. */
  end(signal: NodeJS.Signals): Promise<number | null>;
};

/** Starts `src/worker.ts` with these variables and no others. */
export function startWorkerProcess(env: Record<string, string>): WorkerProcess {
  const child = spawn(process.execPath, ['src/worker.ts'], {
    cwd: root,
    env: { ...bare, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const ended = once(child, 'close').then(([status]) => status as number | null);
  const ready = new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      text += chunk.toString();
      if (text.includes('"msg":"Working"')) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then((status) => reject(new Error(`The worker ended with ${status}:\n${text}`)));
  });
  // Where only the end is awaited.
  ready.catch(() => {});
  return {
    child,
    output: () => text,
    ready,
    ended,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
