import type { Tx } from '../db/client.ts';
import { eventShapes, type NewEvent } from './catalogue.ts';

/**
 * Writes events into the log, in the transaction that causes them: they are there exactly when their cause is. `at` is
 * when it happened. Throws (and so rolls the cause back) when `data` does not have its event's shape, which is our bug.
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

/** Writes one event; see `emitAll`. */
export function emit(tx: Tx, at: Date, event: NewEvent): Promise<void> {
  return emitAll(tx, at, [event]);
}
