import { json, type Sql, statement, time } from '../db/statements.ts';
import { loggedEvents, type NewEvent } from './catalogue.ts';

const insertEvents = statement('insert-events', {
  params: { events: json<{ workspace_id: number; type: string; data: object }[]>(), at: time },
  sql: `
    insert into events (workspace_id, type, data, created_at, traceparent)
    select e.workspace_id, e.type, e.data, $at, $traceparent
    from jsonb_to_recordset($events) as e (workspace_id int, type text, data jsonb)`,
});

/**
 * Adds events to the event log in the transaction that causes them, so that the changes and the events are committed
 * together. `at` is the time at which the events happened. Throws if `data` does not match the schema of its event:
 * this is a bug, and the transaction is rolled back.
 */
export async function emitAll(sql: Sql, at: Date, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ type, workspaceId, data }) => ({
    workspace_id: workspaceId,
    type,
    data: loggedEvents[type].data.parse(data),
  }));
  await sql.run(insertEvents, { events: rows, at });
}

/** Adds one event, like `emitAll`. */
export function emit(sql: Sql, at: Date, event: NewEvent): Promise<void> {
  return emitAll(sql, at, [event]);
}
