/** The command line as a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../client/packed-client.ts';

export type Finished = { status: number | null; stdout: string; stderr: string };

export type CommandLine = {
  /** The directory in which it stores the sign-in. */
  home: string;
  /** Runs one command to its end. `input` is its standard input. */
  run(args: readonly string[], options?: RunOptions): Promise<Finished>;
  /** As `run`, with `--json`. Resolves with the parsed result. Rejects with the output of a command that fails. */
  // biome-ignore lint/suspicious/noExplicitAny: results have any shape, and tests check what they expect
  json(args: readonly string[], options?: RunOptions): Promise<any>;
  /** Starts a command, and resolves when its output matches. */
  start(args: readonly string[], ready: RegExp, options?: RunOptions): Promise<Running>;
  storedSignIn(): Promise<Record<string, unknown>>;
};

export type RunOptions = { input?: string; env?: Record<string, string>; cwd?: string };

export type Running = {
  stdout(): string;
  stderr(): string;
  /** Presses Ctrl-C. */
  interrupt(): Promise<Finished>;
};

/** Sees nothing of this process's environment but PATH. */
export function createCommandLine(home: string, program: readonly string[] = ['src/lynxroom.ts']): CommandLine {
  const launch = (args: readonly string[], { input = '', env = {}, cwd = root }: RunOptions) => {
    const child = spawn(process.execPath, [...program, ...args], {
      cwd,
      env: { PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8', ...env },
      stdio: 'pipe',
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    // A command that ends without reading closes the pipe.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    // `as`: the first argument of `close` is the exit status, or null.
    const finished = once(child, 'close').then(([status]) => ({ status: status as number | null, stdout, stderr }));
    return { child, finished, stdout: () => stdout, stderr: () => stderr };
  };
  const run: CommandLine['run'] = (args, options = {}) => launch(args, options).finished;
  return {
    home,
    run,
    async json(args, options) {
      const { status, stdout, stderr } = await run([...args, '--json'], options);
      if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stdout}${stderr}`);
      return JSON.parse(stdout);
    },
    async start(args, ready, options = {}) {
      const { child, finished, stdout, stderr } = launch(args, options);
      await new Promise<void>((resolve, reject) => {
        const look = (): void => {
          if (ready.test(stdout() + stderr())) resolve();
        };
        child.stdout.on('data', look);
        child.stderr.on('data', look);
        void finished.then(({ status }) => reject(new Error(`Ended with ${status}: ${stdout()}${stderr()}`)));
      });
      return {
        stdout,
        stderr,
        interrupt() {
          child.kill('SIGINT');
          return finished;
        },
      };
    },
    async storedSignIn() {
      return JSON.parse(await readFile(join(home, '.config/lynxroom/credentials.json'), 'utf8'));
    },
  };
}
