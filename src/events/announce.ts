/** Notifies the readers of the event log, in all processes, that the relay has numbered events. */
import { EVENTS_CHANNEL } from '../db/event-signal.ts';
import { notify } from '../db/notify.ts';
import type { Sql } from '../db/statements.ts';

/**
 * If more workspaces than this have new events, the payload is empty, because a payload must be shorter than 8,000
 * bytes.
 */
const MAX_NAMED = 500;

/**
 * Call it after the commit: a NOTIFY in a transaction holds a cluster-wide lock until the commit. The function does not
 * wait for the notification. If the notification fails, the readers find the events at their next poll.
 */
export function announceEvents(sql: Sql, workspaceIds: readonly number[]): void {
  const ids = [...new Set(workspaceIds)];
  notify(sql, EVENTS_CHANNEL, ids.length > MAX_NAMED ? '' : ids.join(',')).catch(() => {});
}
