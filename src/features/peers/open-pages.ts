/** The pages whose streams this process sends. It keeps them alive in the database. */
import { runInBackground } from '../../core/call-bounds.ts';
import type { Log } from '../../core/log.ts';
import { systemTicker, type Ticker } from '../../core/ticker.ts';
import { type Clock, SECOND_MS } from '../../core/time.ts';
import type { Database } from '../../db/client.ts';
import type { OpenPages } from '../../services.ts';
import { type PageKey, refreshPages } from './meeting-pages.ts';
import { SIGNAL_LIFETIME_MS } from './signals.ts';

/** How often the pages are refreshed, and those that have expired in other processes are found. */
const REFRESH_EVERY_MS = 2.5 * SECOND_MS;
/** Streams that close together share a statement. */
const CLOSE_AFTER_MS = 100;
/** How many refreshes follow the last stream: the page expires, and signals reach the end of their life. */
const REFRESHES_AFTER_CLOSE = 24;

/**
 * Creates the registry of a process. While a stream is open, and while a page may come back, it sends one statement
 * every 2.5 seconds; otherwise none.
 */
export function createOpenPages(
  { db, clock, log }: { db: Pick<Database, 'sql'>; clock: Clock; log: Log },
  ticker: Ticker = systemTicker,
): OpenPages {
  /** How many streams of this process each page has, by its key. A reopened stream may overlap the lost one. */
  const streams = new Map<string, { page: PageKey; count: number }>();
  let closed: PageKey[] = [];
  let isIdle = true;
  let isSlow = false;
  let refreshing = Promise.resolve();
  let closing: NodeJS.Timeout | null = null;
  /** The refreshes that are left after the last stream has closed, until its page has expired. */
  let refreshesLeft = 0;

  const refresh = (): Promise<void> => {
    // A page that has been reopened meanwhile is not closed.
    const sent = closed.filter((page) => !streams.has(keyOf(page)));
    closed = [];
    const open = [...streams.values()].map(({ page }) => page);
    return runInBackground(() =>
      refreshPages(db.sql, clock.now(), { open, closed: sent, signalMs: SIGNAL_LIFETIME_MS }),
    ).then(
      () => {
        isSlow = false;
      },
      (error: unknown) => {
        closed = [...sent, ...closed];
        isIdle = false;
        if (!isSlow) log.warn({ err: error }, 'Failed to refresh the pages of meetings');
        isSlow = true;
      },
    );
  };

  const enqueue = (): void => {
    refreshing = refreshing.then(refresh);
  };

  const stopTicking = ticker.every(REFRESH_EVERY_MS, () => {
    if (isIdle) return;
    if (streams.size > 0) refreshesLeft = REFRESHES_AFTER_CLOSE;
    else refreshesLeft -= 1;
    isIdle = refreshesLeft <= 0 && closed.length === 0;
    enqueue();
  });

  return {
    open(page) {
      const key = keyOf(page);
      const entry = streams.get(key) ?? { page, count: 0 };
      entry.count += 1;
      streams.set(key, entry);
      refreshesLeft = REFRESHES_AFTER_CLOSE;
      isIdle = false;
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        entry.count -= 1;
        if (entry.count > 0) return;
        streams.delete(key);
        closed.push(page);
        closing ??= setTimeout(() => {
          closing = null;
          enqueue();
        }, CLOSE_AFTER_MS).unref();
      };
    },
    async stop() {
      stopTicking();
      if (closing !== null) clearTimeout(closing);
      if (closed.length > 0) enqueue();
      await refreshing;
    },
  };
}

function keyOf({ workspaceId, participantId, connectionId }: PageKey): string {
  return `${workspaceId} ${participantId} ${connectionId}`;
}
