/** A script of this project as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

const baseEnv = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', LANG: 'C.UTF-8' };

export type ScriptProcess<Ready> = {
  child: ChildProcess;
  /** Returns everything that the process has written so far, to both streams. */
  output(): string;
  /**
   * Returns the lines so far that are for people: all but the entries of the log. The log and the messages can be on
   * different streams, so their order in `output` depends on the load of the machine.
   */
  messages(): string[];
  /** Resolves when the process is ready. Rejects with its output if it ends first. */
  ready: Promise<Ready>;
  /** Resolves with the exit status, or with null if a signal ended the process. */
  ended: Promise<number | null>;
  /** Sends a signal, unless the process has ended, and resolves as `ended` does. */
  end(signal: NodeJS.Signals): Promise<number | null>;
};

/**
 * Runs a script with these environment variables. From this process, it inherits only PATH and HOME. `findReady` gets
 * the output so far and returns undefined until the process is ready.
 */
export function startScript<Ready>(
  script: string,
  env: Record<string, string>,
  findReady: (output: string) => Ready | undefined,
): ScriptProcess<Ready> {
  return startCommand([process.execPath, script], env, findReady);
}

/** As `startScript`, for any command, in any directory. */
export function startCommand<Ready>(
  [program, ...args]: [string, ...string[]],
  env: Record<string, string>,
  findReady: (output: string) => Ready | undefined,
  cwd = root,
): ScriptProcess<Ready> {
  const child = spawn(program, args, {
    cwd,
    env: { ...baseEnv, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  // Otherwise a character can be split between two chunks.
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8');
  // `as`: the first argument of `close` is the exit status, or null.
  const ended = once(child, 'close').then(([status]) => status as number | null);
  const ready = new Promise<Ready>((resolve, reject) => {
    function onData(chunk: string): void {
      output += chunk;
      const found = findReady(output);
      if (found !== undefined) resolve(found);
    }
    child.stdout.on('data', onData);
    child.stderr.on('data', onData);
    void ended.then((status) => reject(new Error(`${[program, ...args].join(' ')} ended with ${status}:\n${output}`)));
  });
  // A test that only awaits `ended` must not fail because of this rejection.
  ready.catch(() => {});
  return {
    child,
    output: () => output,
    messages: () => output.split('\n').filter((line) => line !== '' && !line.startsWith('{')),
    ready,
    ended,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
