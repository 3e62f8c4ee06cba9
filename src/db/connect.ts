/** Single connections, for migrations and for the startup checks. */
import { Client } from 'pg';
import type { Log } from '../core/log.ts';
import { CONNECT_TIMEOUT_MS, keepAlive } from './bounded-client.ts';

/** A connection that the caller must end. */
export type Connection = Client;

const probing = { ...keepAlive, connectionTimeoutMillis: CONNECT_TIMEOUT_MS };

/** The database cannot be reached, or is not suitable. The message is one line for the person who starts the server. */
export class UnsuitableDatabaseError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'UnsuitableDatabaseError';
  }
}

/** Opens a connection, which the caller must end. Throws UnsuitableDatabaseError if the database cannot be reached. */
export async function connect(connectionString: string, purpose: string, log: Log): Promise<Client> {
  try {
    const client = new Client({ connectionString, application_name: `lynxroom ${purpose}`, ...probing });
    // Without a listener a lost connection would end the process. The next query fails anyway.
    client.on('error', (error) => log.warn({ purpose, reason: error.message }, 'A database connection was lost'));
    await client.connect();
    return client;
  } catch (cause) {
    throw new UnsuitableDatabaseError(`Failed to connect to the database: ${describeError(cause)}`, { cause });
  }
}

/** Returns the message of an error. If connecting to several addresses failed, joins the messages of each failure. */
export function describeError(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describeError).join(', ');
  return error instanceof Error ? error.message : String(error);
}
