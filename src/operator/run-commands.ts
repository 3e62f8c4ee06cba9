/** Runs the command line, with the commands for operators. */
import { readFileSync } from 'node:fs';
import { apiCommands, runProcess } from '@lynxroom/cli';
import { operatorCommands } from './commands.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

const isOperatorCommand = operatorCommands.some(({ name }) => name.split(' ')[0] === process.argv[2]);

await runProcess({
  commands: [...apiCommands, ...operatorCommands],
  version,
  // Only for the commands for operators, because `failures.ts` loads the database client.
  ...(isOperatorCommand && {
    explain: async (error: unknown) => (await import('./failures.ts')).explainFailure(error),
  }),
});
