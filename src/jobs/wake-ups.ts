/** Wakes the loops of this process when PostgreSQL notifies it, so that they need not poll often. */
import type { Log } from '../core/log.ts';
import type { EventSignal } from '../db/event-signal.ts';
import { RELAY_CHANNEL } from '../db/event-signal.ts';
import { type NotificationListener, startNotificationListener } from '../db/notification-listener.ts';

export type WakeUps = {
  /** Before `start`: calls `wake` for each NOTIFY on a channel, and whenever notifications may have been lost. */
  on(channel: string, wake: () => void, everyMs?: number): void;
  /** Calls `wake` after commits of all processes that added events, entries of audit logs or mail. */
  onCommit(wake: () => void, everyMs?: number): void;
  /** Starts to listen, on one connection. While it cannot, a warning is logged, and the loops rely on their polls. */
  start(options: { connectionString: string; log: Log }): NotificationListener;
};

/**
 * With `everyMs`, a loop is woken at once, but at most once in this time. The notifications of this process itself are
 * ignored: the signal has woken its loops before.
 */
export function createWakeUps(signal: Pick<EventSignal, 'listen' | 'sender'>): WakeUps {
  const wakes = new Map<string, (() => void)[]>();
  const ends: (() => void)[] = [];
  const add = (channel: string, wake: () => void, everyMs: number): (() => void) => {
    const throttled = everyMs === 0 ? wake : throttle(wake, everyMs);
    wakes.set(channel, [...(wakes.get(channel) ?? []), throttled]);
    return throttled;
  };
  return {
    on: (channel, wake, everyMs = 0) => void add(channel, wake, everyMs),
    onCommit: (wake, everyMs = 0) => void ends.push(signal.listen(add(RELAY_CHANNEL, wake, everyMs))),
    start({ connectionString, log }) {
      const receive = (all: readonly (() => void)[]) => (payload: string | null) => {
        if (payload === signal.sender) return;
        for (const wake of all) wake();
      };
      const channels = Object.fromEntries([...wakes].map(([channel, all]) => [channel, receive(all)]));
      const listener = startNotificationListener({ connectionString, channels, log });
      return {
        async stop() {
          for (const end of ends) end();
          await listener.stop();
        },
      };
    },
  };
}

/** Returns a function that calls `wake` at once or, if the last call was less than `everyMs` ago, after that time. */
function throttle(wake: () => void, everyMs: number): () => void {
  let pause: NodeJS.Timeout | null = null;
  let isPending = false;
  const call = (): void => {
    isPending = false;
    wake();
    pause = setTimeout(() => {
      pause = null;
      if (isPending) call();
    }, everyMs).unref();
  };
  return () => {
    if (pause === null) call();
    else isPending = true;
  };
}
