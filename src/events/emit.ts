import type { Tx } from '../db/client.ts';
import { eventShapes, type NewEvent } from './catalogue.ts';

/**
 * Writes an event into the log, in the transaction that causes it: it is there exactly when its cause is. `at` is when
 * it happened. Throws (and so rolls its cause back) when `data` does not have the event's shape, which is our bug.
 */
export const emit = async (tx: Tx, at: Date, { type, workspaceId, data }: NewEvent): Promise<void> => {
  await tx.event.create({
    data: { workspaceId, type, data: eventShapes[type].parse(data), createdAt: at },
    select: { id: true },
  });
};
