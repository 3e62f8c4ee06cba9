/** Entry point of the server process. docs/deployment.md says with which options of Node to start it. */
import { prepareModules } from './runtime/prepare-modules.ts';

prepareModules();
await import('./runtime/run-server.ts');
