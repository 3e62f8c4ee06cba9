/** Entry point of the server process, which loads the server with memory limits and the compile cache. */
import { prepareProcess } from './runtime/prepare-process.ts';

prepareProcess();
await import('./runtime/run-server.ts');
