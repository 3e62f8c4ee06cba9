/** Starts the server, or the background work alone, from a configuration. */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { FastifyBaseLogger } from 'fastify';
import { withCallIds } from '../core/log.ts';
import { type Clock, SECOND_MS } from '../core/time.ts';
import { flushTraces } from '../core/tracing.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Services } from '../services.ts';
import { buildApp } from './app.ts';
import { type Config, isProduction } from './config.ts';
import { type CreatedServices, createServices, storageOriginsOf } from './create-services.ts';
import { createStopDeadline, type StopInTime, type Stoppable, startWithCleanup } from './lifecycle.ts';
import { localAccessOf } from './local-access.ts';
import { describeInsecureOrigin } from './secure-context.ts';

/** A running server. `stop` lets requests finish, then jobs, then closes the database. */
export type RunningServer = Stoppable & { url: string; services: Services };

/** How long all parts except the embedded PostgreSQL may take to stop, besides the time for requests. */
const STOP_SECONDS = 40;

/** How long the background work waits after the server has begun to listen. */
const REQUESTS_FIRST_MS = 100;

/** Where `scripts/build-console.mjs` builds the console. */
const CONSOLE_DIR = fileURLToPath(new URL('../../web/dist', import.meta.url));

/** Starts the server, then the background work unless RUN_WORKER is 0. Resolves when both have started. */
export function startServer(config: Config, logger: FastifyBaseLogger, machineClock?: Clock): Promise<RunningServer> {
  return startWithCleanup(logger, async (cleanup) => {
    const stopInTime = createStopDeadline(logger, maxStopMs(config));
    cleanup.defer(stopInTime('traces', flushTraces));
    const created = await createServices(config, withCallIds(logger), cleanup, stopInTime, machineClock);
    const metrics = await startMetrics(config, created, 'server', cleanup, stopInTime);
    const { files } = created;
    const services = metrics?.services ?? created.services;
    // Registered before the HTTP server, so that it stops after the last request.
    const background = cleanup.use(new AsyncDisposableStack());
    const { corsOrigins, refuseForeignHosts, exemptLoopback, signsInLocally } = localAccessOf(config);
    const options = {
      connections: { maxPerNetwork: config.CONNECTIONS_PER_NETWORK, exemptLoopback },
      trustProxy: config.TRUST_PROXY,
      corsOrigins,
      refuseForeignHosts,
      signsInLocally,
      showsMail: !isProduction(config) && config.SMTP_URL === undefined,
      onCall: metrics?.onCall,
      consoleDir: config.CONSOLE ? CONSOLE_DIR : undefined,
      storageOrigins: storageOriginsOf(config),
    };
    const warning = describeInsecureOrigin(config);
    if (warning !== null) services.log.warn({ publicUrl: config.PUBLIC_URL }, warning);
    const app = await buildApp({ services, logger, files, ...options });
    const drain = async (): Promise<void> => {
      const drainTimeout = setTimeout(() => app.server.closeAllConnections(), config.DRAIN_SECONDS * SECOND_MS);
      await app.close().finally(() => clearTimeout(drainTimeout));
    };
    cleanup.defer(stopInTime('requests', drain));
    if (config.RUN_WORKER) {
      const { applyRetentionFirst } = await import('./first-retention.ts');
      const retention = await applyRetentionFirst(services);
      background.defer(stopInTime('retention', retention.stop));
    }
    await app.listen({ host: config.HOST, port: config.PORT });
    const address = app.server.address();
    const url = toUrl(config.HOST, typeof address === 'object' && address !== null ? address.port : config.PORT);
    if (config.RUN_WORKER) {
      // Requests do not need the background work, and loading it keeps the process busy, so requests that waited for
      // the start go first.
      await sleep(REQUESTS_FIRST_MS);
      const { startBackgroundWork } = await import('./background-work.ts');
      await startBackgroundWork(config, { ...created, services }, background, stopInTime, metrics, url);
    }
    return { url, services };
  });
}

function maxStopMs({ DRAIN_SECONDS }: Config): number {
  return (DRAIN_SECONDS + STOP_SECONDS) * SECOND_MS;
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
    cleanup.defer(stopInTime('traces', flushTraces));
    const created = await createServices(config, withCallIds(logger), cleanup, stopInTime);
    const metrics = await startMetrics(config, created, 'worker', cleanup, stopInTime);
    const services = metrics?.services ?? created.services;
    const { startBackgroundWork } = await import('./background-work.ts');
    const ownUrl = toUrl(config.HOST, config.PORT);
    await startBackgroundWork(config, { ...created, services }, cleanup, stopInTime, metrics, ownUrl);
    return {};
  });
}

/**
 * Serves the metrics of this process, if METRICS_PORT is set. This server stops after the requests and the background
 * work.
 */
async function startMetrics(
  config: Config,
  { services }: CreatedServices,
  process: 'server' | 'worker',
  cleanup: AsyncDisposableStack,
  stopInTime: StopInTime,
): Promise<Metrics | null> {
  const { METRICS_PORT: port, METRICS_HOST: host } = config;
  if (port === undefined) return null;
  const [{ createMetrics }, { serveMetrics }] = await Promise.all([
    import('../metrics/metrics.ts'),
    import('../metrics/serve-metrics.ts'),
  ]);
  const metrics = createMetrics(services, process);
  cleanup.defer(async () => metrics.stop());
  const server = await serveMetrics(metrics, { host, port, log: services.log });
  cleanup.defer(stopInTime('metrics', server.close));
  services.log.info({ metricsUrl: `${toUrl(host, server.port)}/metrics` }, 'Serving metrics');
  return metrics;
}
