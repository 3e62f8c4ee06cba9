import type { Tx } from '../db/client.ts';
import { eventShapes, type NewEvent } from './catalogue.ts';

/**
 * Adds events to the event log, in the transaction that causes them, so that both are committed or neither is. `at` is
 * when they happened. Throws if `data` does not match the schema of its event, which is a bug and rolls back the
 * transaction.
 */
export async function emitAll(tx: Tx, at: Date, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.event.createMany({
    data: events.map(({ type, workspaceId, data }) => ({
      workspaceId,
      type,
      data: eventShapes[type].parse(data),
      createdAt: at,
    })),
  });
}

/** Adds one event, like `emitAll`. */
export function emit(tx: Tx, at: Date, event: NewEvent): Promise<void> {
  return emitAll(tx, at, [event]);
}
