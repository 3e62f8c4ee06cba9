/**
 * `npm run database`: prints the URL of the embedded PostgreSQL in DATA_DIR, for pg_dump and psql. If no server runs,
 * it runs PostgreSQL alone until it is interrupted.
 */
import pino from 'pino';
import { findRunningPostgres, startEmbeddedPostgres } from '../src/db/embedded.ts';
import { readConfig } from '../src/runtime/config.ts';

const { DATA_DIR: dataDir } = readConfig(process.env);

async function run(): Promise<string> {
  const running = await findRunningPostgres(dataDir);
  if (running !== null) return running;
  const postgres = await startEmbeddedPostgres({ dataDir, log: pino({ level: 'warn' }, process.stderr) });
  const stop = (): void => void postgres.stop().then(() => process.exit(0));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  // PostgreSQL does not keep this process running.
  setInterval(() => {}, 60_000);
  return postgres.url;
}

try {
  process.stdout.write(`${await run()}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
