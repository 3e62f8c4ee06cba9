/** Starts the server, or the background work alone, from a configuration. */
import type { FastifyBaseLogger } from 'fastify';
import { type Clock, SECOND_MS } from '../core/time.ts';
import { createCounterFolder } from '../db/counters.ts';
import { startCopier } from '../features/meeting-providers/recording-copies/copier.ts';
import { startJobs } from '../jobs/jobs.ts';
import { startPollLoop } from '../jobs/poll-loop.ts';
import type { Services } from '../services.ts';
import { startDelivery } from '../webhook-delivery/start.ts';
import { buildApp } from './app.ts';
import type { Config } from './config.ts';
import { type CreatedServices, createServices } from './create-services.ts';
import { createStopDeadline, type StopInTime, type Stoppable, startWithCleanup } from './lifecycle.ts';
import { localAccessOf } from './local-access.ts';
import { createSchedule } from './schedule.ts';

/** A running server. `stop` lets requests finish, then jobs, then closes the database. */
export type RunningServer = Stoppable & { url: string; services: Services };

/** How long all parts except the embedded PostgreSQL may take to stop, besides the time for requests. */
const STOP_SECONDS = 40;

/** Starts the server, and the background work unless RUN_WORKER is 0. */
export function startServer(config: Config, logger: FastifyBaseLogger, machineClock?: Clock): Promise<RunningServer> {
  return startWithCleanup(logger, async (cleanup) => {
    const stopInTime = createStopDeadline(logger, maxStopMs(config));
    const created = await createServices(config, logger, cleanup, stopInTime, machineClock);
    const { services, files } = created;
    if (config.RUN_WORKER) await startBackgroundWork(config, created, cleanup, stopInTime);
    const { corsOrigins, refuseForeignHosts } = localAccessOf(config);
    const options = { trustProxy: config.TRUST_PROXY, corsOrigins, refuseForeignHosts };
    const app = await buildApp({ services, logger, files, ...options });
    const drain = async (): Promise<void> => {
      const drainTimeout = setTimeout(() => app.server.closeAllConnections(), config.DRAIN_SECONDS * SECOND_MS);
      await app.close().finally(() => clearTimeout(drainTimeout));
    };
    cleanup.defer(stopInTime('requests', drain));
    await app.listen({ host: config.HOST, port: config.PORT });
    const address = app.server.address();
    const port = typeof address === 'object' && address !== null ? address.port : config.PORT;
    return { url: toUrl(config.HOST, port), services };
  });
}

function maxStopMs({ DRAIN_SECONDS }: Config): number {
  return (DRAIN_SECONDS + STOP_SECONDS) * SECOND_MS;
}

/** Starts scheduled jobs, the folding of counters, webhook delivery and the copying of recordings. */
async function startBackgroundWork(
  config: Config,
  { services, directUrl }: CreatedServices,
  cleanup: AsyncDisposableStack,
  stopInTime: StopInTime,
): Promise<void> {
  const jobs = await startJobs({ connectionString: directUrl, schedule: createSchedule(services), log: services.log });
  cleanup.defer(stopInTime('jobs', jobs.stop));
  const counters = startPollLoop({ name: 'counters', poll: createCounterFolder(services), log: services.log });
  cleanup.defer(stopInTime('counters', counters.stop));
  const delivery = await startDelivery({
    boss: jobs.boss,
    services,
    maxInFlight: config.WEBHOOK_CONCURRENCY,
    hostLimits: { maxInFlight: config.WEBHOOK_HOST_CONCURRENCY, perSecond: config.WEBHOOK_HOST_RATE },
  });
  cleanup.defer(stopInTime('webhook delivery', delivery.stop));
  const copier = await startCopier({ boss: jobs.boss, services });
  cleanup.defer(stopInTime('recording copies', copier.stop));
}

/** Returns the URL at which this machine reaches a server that listens on `host`. */
function toUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Starts the background work alone. */
export function startWorker(config: Config, logger: FastifyBaseLogger): Promise<Stoppable> {
  return startWithCleanup(logger, async (cleanup) => {
    const stopInTime = createStopDeadline(logger, maxStopMs(config));
    const created = await createServices(config, logger, cleanup, stopInTime);
    await startBackgroundWork(config, created, cleanup, stopInTime);
    return {};
  });
}
