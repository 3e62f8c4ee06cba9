/** A process around something that runs: the environment, signals, and one clear line for what a person can mend. */
import pino, { type Logger } from 'pino';
import { logSerializers } from '../core/log.ts';
import { DataDirInUseError } from '../db/data-dir-lock.ts';
import { EmbeddedPostgresError } from '../db/embedded.ts';
import { MigrationError } from '../db/migrate.ts';
import { StorageUnavailableError } from '../storage/object-store.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { SecretFileError } from './secret-file.ts';

/** npm passes a signal on a second time: what comes within this is one and the same. */
const SAME_SIGNAL_MS = 1_000;

const ownErrors = [DataDirInUseError, EmbeddedPostgresError, MigrationError, SecretFileError];

/** Ends the process with one line. */
export function endWith(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** Reads the environment, starts, and stops what was started when told to end. `onStarted` is not called when told before. */
export async function runProcess<Running extends { stop(): Promise<void> }>(
  start: (config: Config, logger: Logger) => Promise<Running>,
  onStarted: (running: Running, config: Config, logger: Logger) => Promise<void>,
): Promise<void> {
  const config = readEnvironment();
  const logger = pino({
    level: config.LOG_LEVEL ?? (config.DATABASE_URL === undefined ? 'warn' : 'info'),
    serializers: logSerializers,
  });
  const starting = start(config, logger);
  let firstSignalAt: number | undefined;
  const end = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (firstSignalAt !== undefined && now - firstSignalAt < SAME_SIGNAL_MS) return;
    if (firstSignalAt !== undefined) endWith('Told to end a second time: ending now');
    firstSignalAt = now;
    logger.info({ signal }, 'Draining');
    void starting.then(
      async (running) => {
        await running.stop();
        process.exit(0);
      },
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  process.on('SIGHUP', end);

  try {
    const running = await starting;
    if (firstSignalAt === undefined) await onStarted(running, config, logger);
  } catch (error) {
    const line = explain(error, config);
    if (line !== null) return endWith(line);
    throw error;
  }
}

function readEnvironment(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (error instanceof ConfigError) return endWith(error.message);
    throw error;
  }
}

/** One clear line for what the person who starts the server can mend; null for our bugs. */
function explain(error: unknown, config: Config): string | null {
  if (error instanceof Error && ownErrors.some((kind) => error instanceof kind)) return error.message;
  if (error instanceof StorageUnavailableError) return `${error.message}: look at DATA_DIR`;
  // Node's own errors; anything else has none of these fields.
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (syscall === 'listen' && code === 'EADDRINUSE') return `Port ${config.PORT} is in use: set PORT to another one`;
  if (syscall === 'listen' && code === 'EACCES')
    return `Port ${config.PORT} on ${config.HOST} may not be used: set PORT or HOST`;
  if (code === 'EADDRNOTAVAIL' || syscall === 'getaddrinfo')
    return `HOST ${config.HOST} is no address of this machine: set HOST to another one`;
  if (path !== undefined && (code === 'EACCES' || code === 'EROFS' || code === 'ENOTDIR' || code === 'EEXIST'))
    return `${path} cannot be used (${code}): set DATA_DIR to another folder`;
  return null;
}
