/** Where log lines go: JSON lines for programs, or readable lines in a terminal. */
import pino, { type DestinationStream } from 'pino';
import { type Config, isProduction } from './config.ts';

/**
 * Log lines are written in groups, because a write for each line took up to a quarter of the CPU time of a small
 * request. A group is written as soon as it reaches `minLength`, and at least every `periodicFlush` milliseconds. The
 * rest is written when the process exits.
 */
const logGroups = { minLength: 4_096, periodicFlush: 50 };

/**
 * Opens standard output for the log. In a terminal, and outside of production, lines are readable if the development
 * tools are installed. Everywhere else they are JSON.
 */
export async function openLogStream(config: Config): Promise<DestinationStream> {
  const pretty = process.stdout.isTTY && !isProduction(config) ? await loadPretty() : null;
  return pretty?.({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss', sync: true }) ?? pino.destination(logGroups);
}

/** A server has only the packages that production needs, so this one may be missing. */
function loadPretty() {
  return import('pino-pretty').then(
    (module) => module.default,
    () => null,
  );
}
