/** Entry point of `npm run lynxroom --`, which loads the command line with the compile cache. */
import { useCompileCache } from './runtime/prepare-process.ts';

useCompileCache();
await import('./operator/run-commands.ts');
