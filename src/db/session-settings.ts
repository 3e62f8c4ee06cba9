/** Applies PostgreSQL settings to each connection of a pool. */
import type { ClientBase } from 'pg';

/** Names and values as in postgresql.conf. Times and sizes are in the units that `pg_settings` shows. */
export type SessionSettings = Readonly<Record<string, string>>;

/**
 * Returns a function for the option `onConnect` of a `pg` pool. It takes one round trip for each connection. Startup
 * options would take none, but PgBouncer refuses them, or ignores them without an error.
 */
export function setOnConnect(settings: SessionSettings): (client: ClientBase) => Promise<void> {
  const sql = Object.entries(settings)
    .map(([name, value]) => `SET ${name} = '${value}'`)
    .join('; ');
  return async (client) => {
    await client.query(sql);
  };
}
