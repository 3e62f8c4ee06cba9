/** Connects the command line to this process: arguments, environment, signals, exit code. */
import type { Command } from './command.ts';
import type { Failure } from './failures.ts';
import { runCli } from './run-cli.ts';

export type ProcessOptions = {
  commands: readonly Command[];
  version: string;
  explain?: (error: unknown) => Promise<Failure>;
};

/** npm forwards signals that the process has already received, so signals within this time count as one. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Runs the command line of this process, and sets its exit code. The first SIGINT, SIGTERM or SIGHUP lets the command
 * clean up; a second signal ends the process at once.
 */
export async function runProcess({ commands, version, explain }: ProcessOptions): Promise<void> {
  const { stdin, stdout, stderr, env, argv } = process;
  const interruption = new AbortController();
  let firstSignalAt: number | undefined;
  const onSignal = (): void => {
    const now = performance.now();
    if (firstSignalAt !== undefined && now - firstSignalAt >= SAME_SIGNAL_MS) process.exit(130);
    firstSignalAt ??= now;
    interruption.abort(new Error('Interrupted'));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  // The reader of a pipe may exit before this process, as in `lynxroom ls | head -1`.
  stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  const options = { commands, argv: argv.slice(2), env, io: { stdin, stdout, stderr }, version };
  const exitCode = await runCli({ ...options, signal: interruption.signal, ...(explain && { explain }) });
  process.exitCode = exitCode;
  // Whatever is still open, such as a keep-alive connection, must not delay the exit.
  stdout.write('', () => process.exit(exitCode));
}
