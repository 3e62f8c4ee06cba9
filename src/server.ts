/** The process: reads the environment, starts the service, and drains it when told to end. */
import { relative } from 'node:path';
import pino from 'pino';
import { type Config, ConfigError, readConfig } from './config.ts';
import { DataDirInUseError } from './db/data-dir-lock.ts';
import { EmbeddedPostgresError } from './db/embedded.ts';
import { MigrationError } from './db/migrate.ts';
import { demoLines, prepareDemo } from './demo.ts';
import { type RunningService, startService } from './start.ts';

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
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `Port ${config.PORT} is in use: set PORT to another one`;
  if (code === 'EACCES') return `Port ${config.PORT} on ${config.HOST} may not be used: set PORT or HOST`;
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
  const logger = pino({ level: config.LOG_LEVEL ?? (isEmbedded ? 'warn' : 'info') });

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

  try {
    const service = await starting;
    if (isEmbedded) await greet(service, config);
    else logger.info({ url: service.url }, 'Listening');
  } catch (error) {
    const line = explain(error, config);
    if (line !== null) return endWith(line);
    throw error;
  }
};

await main();
