import pg from 'pg';
import { isLoggedType, loggedEvents } from '../../src/events/catalogue.ts';

/** How many events of a database are checked. Some tests cause many of the same kind. */
const MAX_CHECKED = 20_000;

/**
 * Compares the data of every event in a database with the schema of the event, whether `emit` or a statement has
 * inserted it. Throws if one lacks a field, or has a field or a value that the schema does not allow.
 */
export async function checkEvents(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ type: string; data: unknown }>(
      `select type, data from events order by id desc limit ${MAX_CHECKED}`,
    );
    for (const { type, data } of rows) checkEvent(type, data);
  } finally {
    await client.end();
  }
}

/** Throws if the data of the event does not match the schema of its type. */
export function checkEvent(type: string, data: unknown): void {
  if (!isLoggedType(type)) throw new Error(`The catalogue has no event ${type}`);
  const { error } = loggedEvents[type].data.strict().safeParse(data);
  if (error) throw new Error(`An event ${type} does not match its schema: ${JSON.stringify(data)}`, { cause: error });
}
