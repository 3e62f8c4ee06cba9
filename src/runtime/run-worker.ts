/**
 * Runs a worker process. It does only background work, such as webhook delivery, mail, recording copies and scheduled
 * jobs.
 */
import { exitWithError, runProcess } from './process.ts';
import { startWorker } from './start.ts';

await runProcess(
  (config, logger) =>
    config.DATABASE_URL === undefined
      ? exitWithError('A worker needs DATABASE_URL: with the embedded database, the server does the background work')
      : startWorker(config, logger),
  async (_worker, _config, logger) => logger.info({}, 'Worker started'),
);
