/** Where log lines go: JSON lines for programs, or readable lines in a terminal. */
import type { Writable } from 'node:stream';
import pino, { type DestinationStream } from 'pino';
import { type Config, isProduction } from './config.ts';

/**
 * Log lines are written in groups, because one write for each line took up to a quarter of the CPU time of a small
 * request. A group is written as soon as it reaches `minLength`, and at least every `periodicFlush` milliseconds. The
 * rest is written when the process exits.
 */
const logGroups = { minLength: 4_096, periodicFlush: 50 };

const readable = { ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss', sync: true };

/**
 * Characters that a terminal acts on instead of showing them: control characters, and those that reverse the direction
 * of text.
 */
const CONTROLS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
const CONTROLS_IN_STACKS = /(?!\n)[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Opens standard output for the log. In a terminal outside of production, lines are formatted for reading if the
 * development tools are installed. Everywhere else they are JSON.
 */
export async function openLogStream(config: Config): Promise<DestinationStream> {
  const stream = process.stdout.isTTY && !isProduction(config) ? await openReadableStream() : null;
  return stream ?? pino.destination(logGroups);
}

/**
 * Opens a stream that writes readable lines, to standard output by default; null if the development tools are missing.
 * Control characters in values, which may come from a caller, are shown as `\u001b`: they cannot clear the terminal or
 * look like another line. Stack traces keep their line breaks, and their lines are indented.
 */
export async function openReadableStream(destination?: Writable): Promise<DestinationStream | null> {
  const pretty = (await loadPretty())?.({ ...readable, ...(destination !== undefined && { destination }) });
  return pretty === undefined ? null : { write: (line) => pretty.write(escapeControls(line)) };
}

/** A server has only the packages that production needs, so this one may be missing. */
function loadPretty() {
  return import('pino-pretty').then(
    (module) => module.default,
    () => null,
  );
}

function escapeControls(line: string): string {
  const entry = JSON.parse(line, (key, value) =>
    typeof value === 'string' ? value.replaceAll(key === 'stack' ? CONTROLS_IN_STACKS : CONTROLS, toEscape) : value,
  );
  return `${JSON.stringify(entry)}\n`;
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
