/** The command line as a package of its own, with the commands that call the API. */
import { readFileSync } from 'node:fs';
import { CliError, type Command } from './command.ts';
import { apiCommands } from './commands/index.ts';
import { runProcess } from './process.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/**
 * The commands that need the database. They are listed here so that running one explains where to find it, instead of
 * failing as an unknown command.
 */
const operatorCommands = ['db', 'backup', 'restore', 'doctor', 'admin'].map(
  (name): Command => ({
    name,
    summary: 'For operators: only in the repository of the service',
    args: '[...]',
    maxArgs: Number.POSITIVE_INFINITY,
    details: 'This command needs the database and the settings of the service.',
    examples: [`npm run lynxroom -- ${name} --help`],
    run: async () => {
      throw new CliError(`lynxroom ${name} needs the repository of the service: npm run lynxroom -- ${name} --help`);
    },
  }),
);

await runProcess({ commands: [...apiCommands, ...operatorCommands], version });
