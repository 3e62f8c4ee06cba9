/** What a command is, and what it gets when it runs. */
import type { Readable, Writable } from 'node:stream';

/** An option with a value, such as `--limit 20`, or a flag without one. */
export type Option = {
  /** The name of the value in the help, such as `NUMBER`. A flag has none. */
  value?: string;
  help: string;
};

export type Command = {
  /** One or two words, such as `rooms create`. */
  name: string;
  /** What it does, as one line of the help. */
  summary: string;
  /** The arguments as the help shows them, such as `<files...>` or `[search]`. */
  args?: string;
  minArgs?: number;
  /** Default: `minArgs`. */
  maxArgs?: number;
  options?: Readonly<Record<string, Option>>;
  /** More than the summary says. */
  details?: string;
  /** At least one command line that works as printed. */
  examples: readonly [string, ...string[]];
  /** Runs the command. Resolves with its exit code; undefined means 0. */
  run(context: Context): Promise<number | undefined>;
};

/** The terminal, or what replaces it. */
export type Io = {
  stdin: Readable & { isTTY?: boolean; setRawMode?(mode: boolean): unknown };
  stdout: Writable & { isTTY?: boolean };
  stderr: Writable & { isTTY?: boolean };
};

export type Context = {
  args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  io: Io;
  /** Whether the result is printed as JSON. */
  isJson: boolean;
  /** Aborted by Ctrl-C and SIGTERM. A command then cleans up and rejects with the signal's reason, or resolves. */
  signal: AbortSignal;
  /** Returns the value of an option, or undefined. */
  option(name: string): string | undefined;
  flag(name: string): boolean;
  /** Returns the value of an option as a whole number. Throws UsageError for another value. */
  number(name: string): number | undefined;
  /** Prints the result to standard output: `value` as one line of JSON with `--json`, otherwise `text`. */
  print(value: unknown, text: string): void;
  /** Prints a line for people to standard error. */
  note(text: string): void;
};

/** The exit codes. `docs/cli.md` explains them. */
export const ExitCode = { failed: 1, usage: 2, notSignedIn: 3, unreachable: 4, interrupted: 130 } as const;

/** A failure whose message explains it to the user. */
export class CliError extends Error {
  readonly exitCode: number;
  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, options);
    this.name = 'CliError';
    this.exitCode = options.exitCode ?? ExitCode.failed;
  }
}

/** A command line that cannot be understood. */
export class UsageError extends CliError {
  constructor(message: string) {
    super(message, { exitCode: ExitCode.usage });
    this.name = 'UsageError';
  }
}
