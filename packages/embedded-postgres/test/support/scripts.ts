/** Runs a fixture as a separate process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export type RunningScript = {
  child: ChildProcess;
  firstLine: Promise<string>;
  end(signal: NodeJS.Signals): Promise<void>;
};

export function fixturePath(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}

/**
 * Runs a script with the current version of Node, through a wrapper program if one is given. Its standard error is
 * passed on.
 */
export function runScript(script: string, args: readonly string[], wrapper: readonly string[] = []): RunningScript {
  const [program = process.execPath, ...programArgs] = [...wrapper, process.execPath, script, ...args];
  const child = spawn(program, programArgs, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const firstLine = new Promise<string>((resolve, reject) => {
    lines.once('line', resolve);
    lines.once('close', () => reject(new Error(`${script} ended without printing a line`)));
  });
  // A script that a test kills early is not a failure, unless the test awaits the line.
  firstLine.catch(() => undefined);
  return {
    child,
    firstLine,
    async end(signal) {
      child.kill(signal);
      await exited;
    },
  };
}
