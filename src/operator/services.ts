/** The parts of the service that the commands about accounts use. */
import { availableParallelism } from 'node:os';
import { CliError, type Context } from '@lynxroom/cli';
import { countPasswordSlots, createPasswords } from '../auth/passwords.ts';
import type { Sealer } from '../core/sealing.ts';
import { openDatabase } from '../db/client.ts';
import { connect } from '../db/connect.ts';
import { readDatabaseTime, startDatabaseClock } from '../db/database-clock.ts';
import { readMigrationState } from '../db/migrate.ts';
import { readSealer } from '../runtime/secrets.ts';
import type { Services } from '../services.ts';
import { createLog, readSettings, withDatabase } from './settings.ts';

/** Without the encryption key, `sealer` is null. */
export type OperatorServices = Pick<Services, 'db' | 'clock' | 'passwords'> & { sealer: Sealer | null };

/**
 * Runs `work` with the database of the service. Throws CliError if the database lacks migrations: only a server applies
 * them.
 */
export async function withServices<Result>(
  context: Context,
  work: (services: OperatorServices) => Promise<Result>,
): Promise<Result> {
  const config = readSettings(context);
  const log = createLog(context);
  return withDatabase(config, log, async (connectionString) => {
    const client = await connect(connectionString, 'admin', log);
    const { pending } = await readMigrationState(client).finally(() => client.end());
    if (pending.length > 0)
      throw new CliError('The database lacks migrations of this version: start the service first');
    const onError = ({ message }: Error): void => log.error({ reason: message }, 'A database connection was lost');
    const db = openDatabase({ connectionString, poolSize: 2, onError });
    try {
      const clock = await startDatabaseClock({ readTime: () => readDatabaseTime(db), log });
      const passwords = createPasswords(countPasswordSlots(availableParallelism(), config.UV_THREADPOOL_SIZE));
      return await work({ db, clock, passwords, sealer: await readSealer(config) }).finally(clock.stop);
    } finally {
      await db.$disconnect();
    }
  });
}
