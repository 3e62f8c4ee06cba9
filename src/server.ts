/** The process: reads the environment, starts the service, and drains it when told to end. */
import { relative } from 'node:path';
import pino from 'pino';
import { type Config, ConfigError, readConfig } from './config.ts';
import { logSerializers } from './core/log.ts';
import { DataDirInUseError } from './db/data-dir-lock.ts';
import { EmbeddedPostgresError } from './db/embedded.ts';
import { MigrationError } from './db/migrate.ts';
import { demoLines, prepareDemo } from './demo.ts';
import { type RunningService, startService } from './start.ts';
import { StorageUnavailableError } from './storage/object-store.ts';

/** npm passes a signal on a second time: what comes within this is one and the same. */
const SAME_SIGNAL_MS = 1_000;

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const endWith = (message: string): never => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
};

/** One clear line for what the person who starts the server can mend; null for our bugs. */
const explain = (error: unknown, config: Config): string | null => {
  if (error instanceof DataDirInUseError || error instanceof EmbeddedPostgresError || error instanceof MigrationError)
    return error.message;
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
};

const greet = async (service: RunningService, config: Config): Promise<void> => {
  say(`\nLynxroom listens on ${service.url}\nDocs to browse and try: ${service.url}/docs\n`);
  const demo = await prepareDemo(service.services, config.DATA_DIR, service.url);
  if (demo === null) return;
  const path = relative('.', demo);
  const lines = demoLines(path.startsWith('.') ? path : `./${path}`);
  say(`Try it from another terminal in this folder:\n${lines.map((line) => `  ${line}`).join('\n')}\n`);
};

const main = async (): Promise<void> => {
  let config: Config;
  try {
    config = readConfig(process.env);
  } catch (error) {
    if (error instanceof ConfigError) return endWith(error.message);
    throw error;
  }
  const isEmbedded = config.DATABASE_URL === undefined;
  const logger = pino({
    level: config.LOG_LEVEL ?? (isEmbedded ? 'warn' : 'info'),
    serializers: logSerializers,
  });

  const starting = startService(config, logger);
  let firstSignalAt: number | undefined;
  const end = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (firstSignalAt !== undefined && now - firstSignalAt < SAME_SIGNAL_MS) return;
    if (firstSignalAt !== undefined) endWith('Told to end a second time: ending now');
    firstSignalAt = now;
    logger.info({ signal }, 'Draining');
    void starting.then(
      async (service) => {
        await service.stop();
        process.exit(0);
      },
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  process.on('SIGHUP', end);

  try {
    const service = await starting;
    // Told to end while it started.
    if (firstSignalAt !== undefined) return;
    if (!isEmbedded) return logger.info({ url: service.url }, 'Listening');
    await greet(service, config).catch((error: unknown) => {
      // The service runs all the same.
      logger.error({ err: error }, 'The demo account could not be prepared');
    });
  } catch (error) {
    const line = explain(error, config);
    if (line !== null) return endWith(line);
    throw error;
  }
};

await main();
