/** Entry point of `npm run lynxroom --`, the command line of operators. */
import { prepareModules } from './runtime/prepare-modules.ts';

prepareModules();
await import('./operator/run-commands.ts');
