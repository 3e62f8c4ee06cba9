/** The embedded PostgreSQL, which the service runs itself when DATABASE_URL is not set. */
import * as embedded from '@lynxroom/embedded-postgres';
import { describeError } from './connect.ts';
import { repairLetters } from './embedded-letters.ts';
import { prepareRole, urlOfRole } from './embedded-role.ts';

export { DataDirInUseError, EmbeddedPostgresError, IncompatibleClusterError } from '@lynxroom/embedded-postgres';

export type EmbeddedPostgresOptions = Omit<embedded.EmbeddedPostgresOptions, 'database' | 'stateDir'> & {
  stateDir?: string;
};

/** `url` is the connection string of the service's role, which is not a superuser. */
export type EmbeddedPostgres = embedded.EmbeddedPostgres & { superuserUrl: string };

const DATABASE = 'lynxroom';
/** Below /var/lib, because the temporary directory is emptied when the machine restarts. */
const STATE_DIR = '/var/lib/lynxroom';

/** Starts PostgreSQL in `dataDir`, with a database for the service. Throws the errors of the package. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const postgres = await embedded.startEmbeddedPostgres({ database: DATABASE, stateDir: STATE_DIR, ...options });
  try {
    await repairLetters(postgres.url, options.log);
    return { ...postgres, url: await prepareRole(postgres.url), superuserUrl: postgres.url };
  } catch (cause) {
    await postgres.stop();
    const detail = describeError(cause);
    throw new embedded.EmbeddedPostgresError('Failed to prepare the embedded database', { detail, cause });
  }
}

/**
 * Returns the connection string of the role for the PostgreSQL of a running server, or null if no server is running.
 */
export async function findRunningPostgres(dataDir: string): Promise<string | null> {
  const superuserUrl = await embedded.findRunningPostgres({ dataDir, database: DATABASE });
  return superuserUrl === null ? null : urlOfRole(superuserUrl);
}
