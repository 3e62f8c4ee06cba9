/** What the repository's own entry, `src/operator/`, uses: it adds the commands for operators. */
export { CliError, type Command, type Context, ExitCode, type Option, UsageError } from './command.ts';
export { apiCommands } from './commands/index.ts';
export { describeFailure, type Failure } from './failures.ts';
export { runProcess } from './process.ts';
export { openPrompt } from './prompt.ts';
export { toSize, toTable, toTime } from './table.ts';
