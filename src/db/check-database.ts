/** Checks at start that the service can work correctly with the database and with the pooler in front of it. */
import type { Client } from 'pg';
import type { Log } from '../core/log.ts';
import { type Database, requestSettings } from './client.ts';
import { connect, UnsuitableDatabaseError } from './connect.ts';
import { onlyRow } from './only-row.ts';
import { nullable, statement, text, texts } from './statements.ts';

/** A connection string, and the name of the setting that it comes from. */
export type DatabaseUrl = { setting: string; url: string };

export type ServerFacts = { versionNumber: number; version: string; encoding: string };

const MIN_VERSION = 16;
/** A pooler that assigns its sessions in rotation reuses a session only after a few statements. */
const POOLER_PROBES = 4;

/**
 * Opens a connection and checks a server before it is migrated. Logs a warning if the role is a superuser.
 *
 * @throws UnsuitableDatabaseError if the server is too old, the encoding is not UTF-8, or there is a pooler in
 *   transaction mode
 */
export async function checkServer(database: DatabaseUrl, log: Log): Promise<void> {
  const client = await connect(database.url, 'check', log);
  try {
    const { rows } = await client.query<ServerFacts & { isSuperuser: boolean }>(
      `SELECT current_setting('server_version_num')::int AS "versionNumber",
        current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
        current_setting('is_superuser') = 'on' AS "isSuperuser"`,
    );
    const { isSuperuser, ...facts } = onlyRow(rows);
    const refusal = describeUnsuitable(facts);
    if (refusal !== null) throw new UnsuitableDatabaseError(refusal);
    if (isSuperuser) {
      log.warn(
        {},
        `The role of ${database.setting} is a superuser: use a role with no privileges except owning its database`,
      );
    }
  } finally {
    await client.end().catch(() => undefined);
  }
  await refuseTransactionPooler(database, log);
}

/** Returns why the service cannot use a server, in one line, or null. */
export function describeUnsuitable({ versionNumber, version, encoding }: ServerFacts): string | null {
  if (versionNumber < MIN_VERSION * 10_000) {
    return `PostgreSQL ${MIN_VERSION} or newer is required, but the database has version ${version}: upgrade it`;
  }
  if (encoding !== 'UTF8') {
    return `The database has the encoding ${encoding}: create one with the encoding UTF8`;
  }
  return null;
}

/**
 * Checks that each connection has a session of its own.
 *
 * @throws UnsuitableDatabaseError if a pooler in transaction mode shares the sessions between connections
 */
export async function refuseTransactionPooler({ setting, url }: DatabaseUrl, log: Log): Promise<void> {
  if (!(await sharesSessions(url, log))) return;
  throw new UnsuitableDatabaseError(
    setting === 'DATABASE_URL'
      ? 'DATABASE_URL connects to a pooler in transaction mode: set DATABASE_POOLING=transaction, ' +
          'and DATABASE_DIRECT_URL to a URL that does not use the pooler'
      : `${setting} connects to a pooler in transaction mode: set it to a URL that does not use the pooler`,
  );
}

/** Whether one of two connections changes its session, or both get the same session. */
async function sharesSessions(url: string, log: Log): Promise<boolean> {
  await using cleanup = new AsyncDisposableStack();
  const [first, second] = [await connect(url, 'check', log), await connect(url, 'check', log)];
  for (const client of [first, second]) cleanup.defer(() => client.end().catch(() => undefined));
  const [ofFirst, ofSecond] = [new Set<number>(), new Set<number>()];
  for (let probe = 0; probe < POOLER_PROBES; probe += 1) {
    ofFirst.add(await readSession(first));
    ofSecond.add(await readSession(second));
  }
  return ofFirst.size > 1 || ofSecond.size > 1 || [...ofFirst].some((pid) => ofSecond.has(pid));
}

async function readSession(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return onlyRow(rows).pid;
}

const readSettings = statement('read-session-settings', {
  params: { names: texts },
  returns: { name: text, setting: text, role: text, database: text },
  sql: `
    select name, setting, quote_ident(current_user) as role, quote_ident(current_database()) as database
    from pg_settings where name = any($names)`,
});

/**
 * Checks the pool that serves requests, after the migrations. Its connections have `requestSettings`, unless a pooler
 * in transaction mode keeps the service from setting them. Logs a warning if a setting other than the time zone
 * differs.
 *
 * @param direct the database that was migrated
 * @throws UnsuitableDatabaseError if the time zone is not UTC, or the pool is connected to another database
 */
export async function checkRequestPool(db: Database, direct: DatabaseUrl, log: Log): Promise<void> {
  await refuseOtherDatabase(db, direct, log);
  const names = Object.keys(requestSettings);
  const rows = await db.sql.run(readSettings, { names });
  const wrong = rows.filter(({ name, setting }) => setting !== requestSettings[name]);
  const remedies = wrong.map(
    ({ name, role, database }) => `ALTER ROLE ${role} IN DATABASE ${database} SET ${name} = '${requestSettings[name]}'`,
  );
  const timeZone = wrong.find(({ name }) => name === 'TimeZone');
  if (timeZone !== undefined) {
    throw new UnsuitableDatabaseError(
      `The time zone of the pooler's sessions is ${timeZone.setting} and must be UTC. ` +
        `Run this, then let the pooler reconnect: ${remedies.join('; ')}`,
    );
  }
  if (remedies.length > 0) log.warn({ remedies }, 'Sessions of the pooler lack settings that the service relies on');
}

const findMigrations = statement('find-migrations-table', {
  params: {},
  returns: { name: nullable(text) },
  sql: `select to_regclass('_prisma_migrations')::text as name`,
});

const findMigration = statement('find-migration', {
  params: { id: text },
  returns: { id: text },
  sql: 'select id::text as id from _prisma_migrations where id = $id',
});

/** Compares the databases by their records of migrations, because these have random ids. */
async function refuseOtherDatabase(db: Database, direct: DatabaseUrl, log: Log): Promise<void> {
  const client = await connect(direct.url, 'check', log);
  const { rows } = await client
    .query<{ id: string }>('SELECT id FROM _prisma_migrations ORDER BY started_at DESC LIMIT 1')
    .finally(() => client.end().catch(() => undefined));
  const lastId = onlyRow(rows).id;
  const [table] = await db.sql.run(findMigrations, {});
  const isSame = table?.name && (await db.sql.run(findMigration, { id: lastId })).length > 0;
  if (!isSame) {
    throw new UnsuitableDatabaseError(`DATABASE_URL and ${direct.setting} connect to different databases`);
  }
}
