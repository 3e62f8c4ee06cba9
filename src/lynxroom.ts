/** Entry point of `npm run lynxroom --`: the command line with the commands for operators. */
import { readFileSync } from 'node:fs';
import { apiCommands, runProcess } from '@lynxroom/cli';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

await runProcess({ commands: apiCommands, version });
