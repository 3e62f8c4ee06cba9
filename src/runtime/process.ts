/** Runs a server or worker as a process: environment, signals, and one line for a failure that an operator can fix. */
import pino, { type Logger } from 'pino';
import { hasErrorCode } from '../core/files.ts';
import { logSerializers } from '../core/log.ts';
import { SECOND_MS } from '../core/time.ts';
import { isTracing } from '../core/tracing.ts';
import { UnsuitableDatabaseError } from '../db/connect.ts';
import { DataDirInUseError, EmbeddedPostgresError, IncompatibleClusterError } from '../db/embedded.ts';
import { MigrationError } from '../db/migrate.ts';
import { StorageUnavailableError } from '../storage/object-store.ts';
import { OtherStoreError } from '../storage/store-id.ts';
import { type Config, ConfigError, readConfig, settingNamesFor } from './config.ts';
import type { Stoppable } from './lifecycle.ts';
import { openLogStream } from './log-stream.ts';
import { describeMissingLimits } from './memory-limits.ts';
import { SecretFileError } from './secret-file.ts';
import { describeUnknownSettings } from './unknown-settings.ts';

/** npm forwards signals that the process has already received, so signals within this time count as one. */
const SAME_SIGNAL_MS = 1_000;

/**
 * How long a stop may take, in addition to the time for requests: 40 s for the parts, 35 s for the embedded PostgreSQL,
 * and 5 s in reserve. A signal during a start that hangs also ends the process after this time.
 */
const EXIT_AFTER_SECONDS = 80;

type SystemError = NodeJS.ErrnoException & { port?: number; hostname?: string };

/** Errors whose message tells the operator what to do. */
const operatorErrors = [UnsuitableDatabaseError, MigrationError, OtherStoreError, SecretFileError];

/**
 * Reads the environment and runs `start`, then `onStarted` unless a signal arrived first. On SIGTERM, SIGINT or SIGHUP
 * it stops what was started and exits with status 0; on a second signal, it exits immediately with status 1. If the
 * start fails for a reason that an operator can fix, it prints one line and exits with status 1.
 */
export async function runProcess<Running extends Stoppable>(
  start: (config: Config, logger: Logger) => Promise<Running>,
  onStarted: (running: Running, config: Config, logger: Logger) => Promise<void>,
): Promise<void> {
  const config = readEnvironment();
  const level = config.LOG_LEVEL ?? (config.DATABASE_URL === undefined ? 'warn' : 'info');
  const logger = pino({ level, serializers: logSerializers }, await openLogStream(config));
  const unknown = describeUnknownSettings(process.env, settingNamesFor(process.env));
  if (unknown !== null) logger.warn(unknown);
  const missingLimits = describeMissingLimits();
  if (missingLimits !== null) logger.info(missingLimits);
  if (!isTracing && wantsTraces(process.env))
    logger.warn({}, 'OTEL_* variables are set, but no OpenTelemetry SDK is loaded: see docs/monitoring.md');
  const starting = start(config, logger);
  const shutdown = stopOnSignal(starting, logger, (config.DRAIN_SECONDS + EXIT_AFTER_SECONDS) * SECOND_MS);
  try {
    const running = await starting;
    if (!shutdown.isRequested()) await onStarted(running, config, logger);
  } catch (error) {
    const message = describeStartFailure(error, config);
    if (message === null) throw error;
    exitWithError(message);
  }
}

function wantsTraces(env: NodeJS.ProcessEnv): boolean {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } = env;
  return (all ?? traces) !== undefined && env.OTEL_SDK_DISABLED !== 'true';
}

function readEnvironment(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (error instanceof ConfigError) exitWithError(error.message);
    throw error;
  }
}

/** Prints a message and exits with status 1. */
export function exitWithError(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function stopOnSignal(starting: Promise<Stoppable>, logger: Logger, maxMs: number): { isRequested(): boolean } {
  let firstSignalAt: number | undefined;
  function onSignal(signal: NodeJS.Signals): void {
    const now = performance.now();
    if (firstSignalAt !== undefined) {
      if (now - firstSignalAt >= SAME_SIGNAL_MS) exitWithError('Received a second signal, exiting');
      return;
    }
    firstSignalAt = now;
    logger.info({ signal }, 'Stopping');
    setTimeout(() => exitWithError('Failed to stop in time, exiting'), maxMs).unref();
    void starting.then(
      async (running) => {
        await running.stop();
        process.exit(0);
      },
      () => process.exit(1),
    );
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
  return { isRequested: () => firstSignalAt !== undefined };
}

/** Returns one line that tells the operator what to do, or null for a bug. */
function describeStartFailure(error: unknown, config: Config): string | null {
  if (error instanceof Error && operatorErrors.some((kind) => error instanceof kind)) return error.message;
  if (error instanceof DataDirInUseError) return `${error.message}: stop it, or set DATA_DIR to another directory`;
  if (error instanceof IncompatibleClusterError)
    return `${error.message}: see "A new major version of PostgreSQL" in docs/database.md`;
  if (error instanceof EmbeddedPostgresError) return `${error.message} (to use another PostgreSQL, set DATABASE_URL)`;
  if (error instanceof StorageUnavailableError) return `${error.message}: check DATA_DIR`;
  // Node's system errors have these fields; reading them from any other error gives undefined.
  const { code, syscall, path, port, hostname } = error as SystemError;
  const isOfMetrics =
    port === undefined ? hostname !== config.HOST && hostname === config.METRICS_HOST : port === config.METRICS_PORT;
  const prefix = isOfMetrics ? 'METRICS_' : '';
  const host = config[`${prefix}HOST`];
  if (syscall === 'listen' && code === 'EADDRINUSE') return `Port ${port} is in use: set ${prefix}PORT to another one`;
  if (syscall === 'listen' && code === 'EACCES')
    return `No permission to listen on port ${port} of ${host}: set ${prefix}PORT or ${prefix}HOST`;
  if (code === 'EADDRNOTAVAIL' || syscall === 'getaddrinfo')
    return `${prefix}HOST ${host} is not an address of this machine: set ${prefix}HOST to another one`;
  if (path !== undefined && hasErrorCode(error, 'EACCES', 'EROFS', 'ENOTDIR', 'EEXIST'))
    return `${path} cannot be used (${code}): set DATA_DIR to another directory`;
  return null;
}
