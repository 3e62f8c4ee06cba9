/**
 * Tells the background work of all processes that something was committed for it: events, entries of audit logs or
 * mail. It does so after the commit: a NOTIFY in a transaction holds a cluster-wide lock until the commit is on disk,
 * so no two such commits could share a flush.
 */
import { randomUUID } from 'node:crypto';
import { runInBackground } from '../core/call-bounds.ts';

export type EventSignal = {
  /** Call this after a commit that added work. */
  raise(): void;
  /** Calls `wake` when this process has committed work. Returns a function that stops these calls. */
  listen(wake: () => void): () => void;
  /** The payload of this process's notifications. Its own loops ignore them. */
  readonly sender: string;
};

/** NOTIFY on this channel wakes the relays, and what else waits for commits. */
export const RELAY_CHANNEL = 'lynxroom_relay';

/**
 * NOTIFY on this channel says that events were numbered. The payload has the IDs of their workspaces, separated by
 * commas; an empty one stands for all workspaces.
 */
export const EVENTS_CHANNEL = 'lynxroom_events';

/**
 * NOTIFY on this channel says that rights may have changed. Triggers send it. The payload says whose rights, such as
 * `user:7`.
 */
export const ACCESS_CHANNEL = 'lynxroom_access';

/** NOTIFY on this channel says that a message was stored for a reader. Triggers send it. The payload is its topic. */
export const SIGNALS_CHANNEL = 'lynxroom_signals';

/** The minimum time between two signals. Commits in between share the next signal. */
const INTERVAL_MS = 100;

/**
 * Wakes the listeners of this process and calls `notify` with `sender`, to tell the other processes. If `notify` fails,
 * they find the work at their next poll.
 */
export function createEventSignal(notify: (sender: string) => Promise<unknown>): EventSignal {
  const sender = randomUUID();
  const listeners = new Set<() => void>();
  let pause: NodeJS.Timeout | null = null;
  let isPending = false;

  const send = (): void => {
    isPending = false;
    pause = setTimeout(() => {
      pause = null;
      if (isPending) send();
    }, INTERVAL_MS).unref();
    for (const wake of listeners) wake();
    runInBackground(() => notify(sender)).catch(() => {});
  };

  return {
    sender,
    raise() {
      if (pause === null) send();
      else isPending = true;
    },
    listen(wake) {
      listeners.add(wake);
      return () => void listeners.delete(wake);
    },
  };
}
