/** Entry point of a worker process, which loads the worker with memory limits and the compile cache. */
import { prepareProcess } from './runtime/prepare-process.ts';

prepareProcess();
await import('./runtime/run-worker.ts');
