/**
 * Everything that the service uses of `pg` beyond its documented interface. No other file does. `pg` offers no public
 * way to cancel a statement, to give up a connection without waiting for its statement, or to send several statements
 * in one write. Its version is exact in package.json, and test/db/pg-internals.test.ts fails if a new one has moved
 * these parts.
 */
import type { Socket } from 'node:net';
import pg from 'pg';

export type QueryCallback = (error: Error | null, result?: unknown) => void;

/** What a CancelRequest of the PostgreSQL protocol needs to name a connection. */
export type BackendKey = { processID: number; secretKey: number };

/** Returns the key that PostgreSQL sent when `client` connected, or null before that. */
export function readBackendKey(client: pg.ClientBase): BackendKey | null {
  // `as`: the types lack these fields.
  const { processID, secretKey } = client as unknown as { [Field in keyof BackendKey]: BackendKey[Field] | null };
  return processID === null || secretKey === null ? null : { processID, secretKey };
}

/** Closes the connection of `client` at once. Its statements are rejected with `error`. `end` would wait for them. */
export function destroyConnection(client: pg.ClientBase, error: Error): void {
  streamOf(client).destroy(error);
}

/** Makes `client` send, in one write, everything that is written before this turn of the event loop ends. */
export function sendTogether(client: pg.ClientBase): void {
  const stream = streamOf(client);
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/**
 * Creates the query that `pg` would create for `client.query(statement, callback)`. `pg` copies query objects property
 * by property, which takes longer than encoding the parameters.
 */
export function createQuery(
  statement: string | (pg.QueryConfig & { name: string }),
  callback: QueryCallback,
): pg.Query {
  // The types lack the fields `callback` and `name`.
  if (typeof statement === 'string') return Object.assign(new pg.Query(statement), { callback });
  const { name, text, values } = statement;
  return Object.assign(new pg.Query(text, values), { name, callback });
}

function streamOf(client: pg.ClientBase): Socket {
  // `as`: the types lack the connection.
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}
