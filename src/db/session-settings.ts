/** Settings of PostgreSQL that each connection of a pool needs. */
import type { ClientBase } from 'pg';

/** Names and values as in postgresql.conf. Times and sizes have the unit in which `pg_settings` shows them. */
export type SessionSettings = Readonly<Record<string, string>>;

/**
 * Returns a function for `onConnect` of a pool of `pg`. It costs one round trip for each connection. Startup options
 * would cost none, but pgbouncer refuses them, or ignores them without an error.
 */
export function setOnConnect(settings: SessionSettings): (client: ClientBase) => Promise<void> {
  const sql = Object.entries(settings)
    .map(([name, value]) => `SET ${name} = '${value}'`)
    .join('; ');
  return async (client) => {
    await client.query(sql);
  };
}
