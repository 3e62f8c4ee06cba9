/** The texts of `--help`. */
import type { Command, Option } from './command.ts';
import { alignColumns } from './table.ts';

const COMMON: Readonly<Record<string, Option>> = {
  json: { help: 'print the result as JSON, and errors as JSON on standard error' },
  help: { help: 'show this help' },
};

const INTRODUCTION = `The command line of Lynxroom.

Usage: lynxroom <command> [options]`;

const CONCLUSION = `Each command explains itself with --help. With --json it prints JSON.
LYNXROOM_URL, LYNXROOM_TOKEN and LYNXROOM_WORKSPACE take precedence over what "lynxroom login" stored.`;

/** Lists commands with their summaries. */
export function describeCommands(commands: readonly Command[]): string {
  const rows = commands.map(({ name, args = '', summary }) => [`  ${name} ${args}`.trimEnd(), summary]);
  return `${INTRODUCTION}\n\nCommands:\n${alignColumns(rows)}\n\n${CONCLUSION}`;
}

/** Explains one command: usage, options, and examples. */
export function describeCommand({ name, args = '', summary, details, options = {}, examples }: Command): string {
  const rows = Object.entries({ ...options, ...COMMON }).map(([option, { value, help }]) => [
    `  --${option}${value === undefined ? '' : ` ${value}`}`,
    help,
  ]);
  return [
    `Usage: lynxroom ${name} ${args}`.trimEnd(),
    details === undefined ? summary : `${summary}\n\n${details}`,
    `Options:\n${alignColumns(rows)}`,
    `Examples:\n${examples.map((example) => `  ${example}`).join('\n')}`,
  ].join('\n\n');
}
