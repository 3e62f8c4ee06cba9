/** The embedded PostgreSQL, which the service runs itself when DATABASE_URL is not set. */
import * as embedded from '@lynxroom/embedded-postgres';

export { DataDirInUseError, type EmbeddedPostgres, EmbeddedPostgresError } from '@lynxroom/embedded-postgres';

export type EmbeddedPostgresOptions = Omit<embedded.EmbeddedPostgresOptions, 'database' | 'stateDir'> & {
  stateDir?: string;
};

const DATABASE = 'lynxroom';
/** Below /var/lib, because the temporary directory is emptied when the machine restarts. */
const STATE_DIR = '/var/lib/lynxroom';

/** Starts PostgreSQL in `dataDir`, with a database for the service. Throws the errors of the package. */
export function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<embedded.EmbeddedPostgres> {
  return embedded.startEmbeddedPostgres({ database: DATABASE, stateDir: STATE_DIR, ...options });
}

/** Returns the connection string of the PostgreSQL that a running server uses, or null if no server runs. */
export function findRunningPostgres(dataDir: string): Promise<string | null> {
  return embedded.findRunningPostgres({ dataDir, database: DATABASE });
}
