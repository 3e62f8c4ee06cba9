/** The process of the background work alone: sends webhooks, and does what runs by the clock. */
import { endWith, runProcess } from './runtime/process.ts';
import { startWorkerAlone } from './runtime/start.ts';

await runProcess(
  (config, logger) =>
    config.DATABASE_URL === undefined
      ? endWith('A worker of its own needs DATABASE_URL: on the embedded database the server does this work itself')
      : startWorkerAlone(config, logger),
  async (_worker, _config, logger) => logger.info({}, 'Working'),
);
