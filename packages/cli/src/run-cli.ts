/** Runs one command line: finds the command, parses its arguments, and turns every failure into one line. */
import { parseArgs } from 'node:util';
import { type Command, type Context, ExitCode, type Io, UsageError } from './command.ts';
import { describeFailure, type Failure } from './failures.ts';
import { describeCommand, describeCommands } from './help.ts';
import { linesWithoutControls, toJson } from './table.ts';

export type CliOptions = {
  commands: readonly Command[];
  /** The arguments after the name of the program. */
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  io: Io;
  signal: AbortSignal;
  /** What `--version` prints. */
  version: string;
  /** Describes the failures of the given commands. Default: `describeFailure`. */
  explain?: (error: unknown) => Promise<Failure>;
};

type Parsed = { values: Record<string, string | boolean | undefined>; positionals: string[] };

/** The options of every command. */
const common = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;

/** Resolves with the exit code. Never rejects. */
export async function runCli(options: CliOptions): Promise<number> {
  const { argv, io, signal } = options;
  const isJson = argv.includes('--json');
  try {
    return await dispatch(options);
  } catch (error) {
    if (signal.aborted) return ExitCode.interrupted;
    const failure = (await options.explain?.(error)) ?? describeFailure(error);
    const { exitCode, message, ...details } = failure;
    io.stderr.write(
      isJson ? `${toJson({ error: { message, ...details } })}\n` : `${linesWithoutControls(toText(failure))}\n`,
    );
    return exitCode;
  }
}

async function dispatch({ commands, argv, env, io, signal, version }: CliOptions): Promise<number> {
  if (argv[0] === '--version') return printText(io, version);
  if (argv.length === 0 || argv[0] === '--help' || argv[0] === '-h' || argv[0] === 'help') {
    const topic = argv.slice(1).join(' ');
    return printText(io, describeTopic(commands, argv[0] === 'help' ? topic : ''));
  }
  const command = findCommand(commands, argv);
  if (command === undefined) {
    const topic = argv[0] ?? '';
    const isGroup = commands.some(({ name }) => name.startsWith(`${topic} `));
    if (isGroup && (argv.length === 1 || argv.includes('--help') || argv.includes('-h')))
      return printText(io, describeTopic(commands, topic));
    throw unknownCommand(commands, argv, isGroup);
  }
  const { values, positionals } = parse(command, argv.slice(command.name.split(' ').length));
  if (values.help === true) return printText(io, describeCommand(command));
  const context = createContext({ values, positionals }, { env, io, signal });
  return (await command.run(context)) ?? 0;
}

function printText(io: Io, text: string): number {
  io.stdout.write(`${text}\n`);
  return 0;
}

function describeTopic(commands: readonly Command[], topic: string): string {
  const command = commands.find(({ name }) => name === topic);
  if (command) return describeCommand(command);
  const ofGroup = commands.filter(({ name }) => name.startsWith(`${topic} `));
  if (topic !== '' && ofGroup.length === 0) throw new UsageError(`There is no command ${topic}`);
  return describeCommands(topic === '' ? commands : ofGroup);
}

/** A two-word command takes precedence over a one-word command. */
function findCommand(commands: readonly Command[], [first = '', second = '']: readonly string[]): Command | undefined {
  return (
    commands.find(({ name }) => name === `${first} ${second}`) ??
    commands.find(({ name }) => name === first && !name.includes(' '))
  );
}

function unknownCommand(commands: readonly Command[], argv: readonly string[], isGroup: boolean): UsageError {
  const name = argv.slice(0, isGroup ? 2 : 1).join(' ');
  const group = isGroup ? `${argv[0]} ` : '';
  const known = commands.filter((command) => command.name.startsWith(group)).map((command) => command.name);
  return new UsageError(`There is no command ${name}. Commands: ${known.join(', ')}`);
}

function parse(command: Command, argv: readonly string[]): Parsed {
  const own = Object.entries(command.options ?? {}).map(
    ([name, { value }]) => [name, { type: value === undefined ? 'boolean' : 'string' }] as const,
  );
  const parsed = parseOptions(command, argv, { ...common, ...Object.fromEntries(own) });
  const { minArgs = 0, maxArgs = minArgs } = command;
  const { length } = parsed.positionals;
  if (parsed.values.help !== true && (length < minArgs || length > maxArgs)) {
    const problem = length < minArgs ? 'An argument is missing' : 'There are too many arguments';
    throw new UsageError(`${problem}. Usage: lynxroom ${command.name} ${command.args ?? ''}`.trimEnd());
  }
  return parsed;
}

function parseOptions(
  command: Command,
  argv: readonly string[],
  options: NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>,
): Parsed {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
    // `as`: no option can be repeated, so no value is a list.
    return { values: values as Parsed['values'], positionals };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${message}\nSee: lynxroom ${command.name} --help`);
  }
}

function createContext(
  { values, positionals }: Parsed,
  { env, io, signal }: Pick<CliOptions, 'env' | 'io' | 'signal'>,
): Context {
  const option = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const isJson = values.json === true;
  return {
    args: positionals,
    env,
    io,
    isJson,
    signal,
    option,
    flag: (name) => values[name] === true,
    number(name) {
      const text = option(name);
      if (text === undefined) return undefined;
      if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--${name} must be a whole number`);
      return Number(text);
    },
    print(value, text) {
      // If the output goes to a file or a program, text such as an exported CSV is written unchanged.
      const shown = io.stdout.isTTY ? linesWithoutControls(text) : text;
      io.stdout.write(`${isJson ? toJson(value) : shown}\n`);
    },
    note: (text) => void io.stderr.write(`${linesWithoutControls(text)}\n`),
  };
}

function toText({ message, issues = [], request_id: requestId }: Failure): string {
  const fields = issues.filter((issue) => issue.message !== message).map((issue) => `\n  ${issue.message}`);
  return `${message}${fields.join('')}${requestId ? `\nRequest ${requestId}` : ''}`;
}
