/** Starts the whole service, or its background work alone, from a configuration, and gives back how to end it. */
import type { FastifyBaseLogger } from 'fastify';
import { startCopier } from '../features/meeting-providers/recording-copies/copier.ts';
import { startJobs } from '../jobs/jobs.ts';
import type { Services } from '../services.ts';
import { startDelivery } from '../webhook-delivery/start.ts';
import { buildApp } from './app.ts';
import { createUndo, type Undo } from './cleanup.ts';
import type { Config } from './config.ts';
import { type OpenedServices, openServices } from './create-services.ts';
import { scheduleOf } from './schedule.ts';

/** A service that runs. `stop` drains requests, then jobs, then the database, and never rejects. */
export type RunningService = { url: string; services: Services; stop(): Promise<void> };

/** Background work that runs in a process of its own. */
export type RunningWorker = { stop(): Promise<void> };

/** Starts the server, with the background work unless RUN_WORKER is 0. */
export function startService(config: Config, logger: FastifyBaseLogger): Promise<RunningService> {
  return startAll(logger, async (undo) => {
    const opened = await openServices(config, logger, undo);
    if (config.RUN_WORKER) await startBackgroundWork(config, opened, undo);
    const app = await buildApp({
      services: opened.services,
      logger,
      files: opened.files,
      trustProxy: config.TRUST_PROXY,
      corsOrigins: config.CORS_ORIGINS,
    });
    undo.push(async () => {
      const impatience = setTimeout(() => app.server.closeAllConnections(), config.DRAIN_SECONDS * 1000);
      await app.close().finally(() => clearTimeout(impatience));
    });
    await app.listen({ host: config.HOST, port: config.PORT });
    const address = app.server.address();
    const port = typeof address === 'object' && address !== null ? address.port : config.PORT;
    return { url: urlOf(config.HOST, port), services: opened.services, stop: undo.run };
  });
}

/** What is started here is stopped again when a later step fails. */
async function startAll<Running>(log: FastifyBaseLogger, start: (undo: Undo) => Promise<Running>): Promise<Running> {
  const undo = createUndo(log);
  try {
    return await start(undo);
  } catch (error) {
    await undo.run();
    throw error;
  }
}

/** What runs by the clock, the sending of webhooks, and the copying of recordings. */
async function startBackgroundWork(config: Config, opened: OpenedServices, undo: Undo): Promise<void> {
  const { services, connectionString } = opened;
  const jobs = await startJobs({ connectionString, schedule: scheduleOf(services), log: services.log });
  undo.push(jobs.stop);
  const delivery = await startDelivery({ boss: jobs.boss, services, maxInFlight: config.WEBHOOK_CONCURRENCY });
  undo.push(delivery.stop);
  const copier = await startCopier({ boss: jobs.boss, services });
  undo.push(copier.stop);
}

/** Where a browser on this machine reaches a server that listens on `host`. */
function urlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Starts the background work alone. */
export function startWorkerAlone(config: Config, logger: FastifyBaseLogger): Promise<RunningWorker> {
  return startAll(logger, async (undo) => {
    await startBackgroundWork(config, await openServices(config, logger, undo), undo);
    return { stop: undo.run };
  });
}
