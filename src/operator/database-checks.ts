/** What `lynxroom doctor` checks about the database. */
import { describeUnsuitable, type ServerFacts } from '../db/check-database.ts';
import type { Connection } from '../db/connect.ts';
import { readMigrationState } from '../db/migrate.ts';
import { onlyRow } from '../db/only-row.ts';
import type { Finding } from './finding.ts';

/**
 * The service uses the clock of the database, but TLS, S3 and the sweep also need the machine's clock to be correct.
 */
const MAX_SKEW_SECONDS = 1;
const MAX_TOLERABLE_SECONDS = 60;

export async function checkServerVersion(client: Connection): Promise<Finding> {
  const { rows } = await client.query<ServerFacts & { isSuperuser: boolean; ctype: string; size: string }>(
    `SELECT current_setting('server_version_num')::int AS "versionNumber",
      current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
      current_setting('is_superuser') = 'on' AS "isSuperuser", datctype AS ctype,
      pg_size_pretty(pg_database_size(oid)) AS size
    FROM pg_database WHERE datname = current_database()`,
  );
  const { isSuperuser, ctype, size, ...facts } = onlyRow(rows);
  const refusal = describeUnsuitable(facts);
  if (refusal !== null) return { check: 'database', state: 'problem', detail: refusal };
  const warnings = [
    ...(isSuperuser ? ['Use a role that is not a superuser'] : []),
    ...(['C', 'POSIX'].includes(ctype) ? [describeLetters(ctype)] : []),
  ];
  const detail = [`PostgreSQL ${facts.version}, ${size}`, ...warnings].join('. ');
  return { check: 'database', state: warnings.length > 0 ? 'warning' : 'ok', detail };
}

/** pg_trgm, on which searches depend, takes the letters of LC_CTYPE for letters. */
function describeLetters(ctype: string): string {
  return (
    `Its LC_CTYPE is ${ctype}, so searches for letters outside of ASCII are slow, and may find too little: ` +
    'restore a backup into a database with the locale C.UTF-8'
  );
}

/** Throws MigrationError if a server would refuse to start. */
export async function checkMigrations(client: Connection): Promise<Finding> {
  const { applied, pending } = await readMigrationState(client);
  if (pending.length === 0) return { check: 'migrations', state: 'ok', detail: `${applied.length} applied` };
  const names = pending.map(({ name }) => name).join(', ');
  return { check: 'migrations', state: 'warning', detail: `The next start of the service applies ${names}` };
}

export async function checkClock(client: Connection): Promise<Finding> {
  const before = Date.now();
  const { rows } = await client.query<{ ms: number }>(
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
  );
  const middle = (before + Date.now()) / 2;
  const seconds = Math.abs(onlyRow(rows).ms - middle) / 1000;
  const detail = `The clock of this machine differs from that of the database by ${seconds.toFixed(1)} s`;
  if (seconds <= MAX_SKEW_SECONDS) return { check: 'clock', state: 'ok', detail };
  const state = seconds <= MAX_TOLERABLE_SECONDS ? 'warning' : 'problem';
  return { check: 'clock', state, detail: `${detail}: synchronize both with NTP` };
}
