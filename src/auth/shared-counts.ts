/**
 * Counts of calls in windows of one minute, each starting with the first call in it. All processes share the counts
 * through the table `rate_limits`, whose times come from the database alone. While the database is unavailable, each
 * process counts on its own.
 */
import type { Log } from '../core/log.ts';
import { systemTicker, type Ticker } from '../core/ticker.ts';
import { SECOND_MS } from '../core/time.ts';
import type { Database } from '../db/client.ts';
import { float, int, json, statement, text } from '../db/statements.ts';

/** How many calls there were in the window, including this one, and how long until it ends. */
export type Count = { calls: number; msLeft: number };

export type SharedCounts = {
  /**
   * Counts a call in memory, and adds it to the shared count within about half a second, or sooner if there are many.
   * Until then other processes do not see the call, so all processes together may admit more than `max`. A call beyond
   * `max` is not counted.
   */
  count(key: string, max: number): Count;
  /**
   * Adds a call to the shared count immediately, with one statement. A call that is known to be beyond `max` needs no
   * statement.
   */
  countExactly(key: string, max: number): Promise<Count>;
  /** Returns the count as far as this process knows it, without counting a call. */
  peek(key: string): Count;
  /** Stops sharing. Resolves once no statement is in progress. */
  stop(): Promise<void>;
};

/** `shared` is the last known count of all processes. `unsent` is what this process has counted since. */
type Window = { shared: number; unsent: number; endsAt: number };

type Row = { key: string; calls: number; msLeft: number };

const WINDOW_MS = 60 * SECOND_MS;
const SYNC_MS = 500;
/**
 * A process shares its counts after this time instead of `SYNC_MS` if it has admitted `URGENT_PART` of a limit since it
 * last shared them.
 */
const URGENT_SYNC_MS = 50;
const URGENT_PART = 0.05;
const MAX_KEYS_PER_STATEMENT = 1_000;
/** How long a call waits for the exact count from the database. After that, the count in memory decides. */
const EXACT_TIMEOUT_MS = 500;

export function createSharedCounts(
  { db, log }: { db: Database; log: Log },
  ticker: Ticker = systemTicker,
): SharedCounts {
  const windows = new Map<string, Window>();
  const changed = new Set<string>();
  let syncing: Promise<void> = Promise.resolve();
  let isSyncing = false;
  let isDown = false;
  let hasRows = false;
  let isUrgent = false;
  let syncedAt = ticker.now();

  const windowOf = (key: string): Window => {
    const now = ticker.now();
    const current = windows.get(key);
    if (current && current.endsAt > now) return current;
    const window = { shared: 0, unsent: 0, endsAt: now + WINDOW_MS };
    windows.set(key, window);
    return window;
  };

  const toCount = ({ shared, unsent, endsAt }: Window, more = 0): Count => ({
    calls: shared + unsent + more,
    msLeft: endsAt - ticker.now(),
  });

  const applyRow = (window: Window, { calls, msLeft }: Row, sent: number): void => {
    window.shared = calls;
    window.unsent -= sent;
    window.endsAt = ticker.now() + msLeft;
  };

  const setDown = (error: unknown): void => {
    if (!isDown) log.warn({ err: error }, 'Failed to share rate limits: this process counts on its own');
    isDown = true;
  };

  const setUp = (): void => {
    if (isDown) log.info({}, 'Sharing rate limits again');
    isDown = false;
    hasRows = true;
  };

  const share = async (keys: readonly string[]): Promise<void> => {
    const sent = keys.flatMap((key) => {
      changed.delete(key);
      const window = windows.get(key);
      return window && window.unsent > 0 ? [{ key, window, calls: window.unsent }] : [];
    });
    if (sent.length === 0) return;
    try {
      const rows = await addCalls(db, sent);
      const byKey = new Map(rows.map((row) => [row.key, row]));
      for (const { key, window, calls } of sent) {
        const row = byKey.get(key);
        if (row) applyRow(window, row, calls);
      }
      setUp();
    } catch (error) {
      for (const key of keys) changed.add(key);
      setDown(error);
    }
  };

  const sync = async (): Promise<void> => {
    // Calls that are counted during this sync, and counts that cannot be sent, are left to the next sync.
    const keys = [...changed];
    for (let start = 0; start < keys.length; start += MAX_KEYS_PER_STATEMENT)
      await share(keys.slice(start, start + MAX_KEYS_PER_STATEMENT));
  };

  const stopSyncing = ticker.every(URGENT_SYNC_MS, () => {
    const isDue = isUrgent || ticker.now() - syncedAt >= SYNC_MS;
    if (isSyncing || changed.size === 0 || !isDue) return;
    isSyncing = true;
    isUrgent = false;
    syncedAt = ticker.now();
    syncing = sync().finally(() => {
      isSyncing = false;
    });
  });

  const stopPruning = ticker.every(WINDOW_MS, () => {
    const now = ticker.now();
    for (const [key, { endsAt }] of windows) if (endsAt <= now) windows.delete(key);
    if (!hasRows || isDown) return;
    hasRows = false;
    syncing = Promise.all([syncing, pruneRows(db).catch(setDown)]).then(() => {});
  });

  return {
    peek(key) {
      const now = ticker.now();
      const window = windows.get(key);
      return window && window.endsAt > now ? toCount(window) : { calls: 0, msLeft: 0 };
    },
    count(key, max) {
      const window = windowOf(key);
      if (window.shared + window.unsent >= max) return toCount(window, 1);
      window.unsent += 1;
      changed.add(key);
      if (window.unsent >= max * URGENT_PART) isUrgent = true;
      return toCount(window);
    },
    async countExactly(key, max) {
      const window = windowOf(key);
      if (window.shared + window.unsent >= max) return toCount(window, 1);
      window.unsent += 1;
      if (isDown) {
        changed.add(key);
        return toCount(window);
      }
      const added = addCalls(db, [{ key, calls: 1 }]).then(
        ([row]) => {
          setUp();
          if (row === undefined) return;
          // Responses to concurrent calls may arrive in any order.
          applyRow(window, { ...row, calls: Math.max(window.shared, row.calls) }, 1);
          return row;
        },
        (error: unknown) => {
          changed.add(key);
          setDown(error);
        },
      );
      const row = await Promise.race([added, wait(EXACT_TIMEOUT_MS)]);
      return row ?? toCount(window);
    },
    async stop() {
      stopSyncing();
      stopPruning();
      await syncing;
    },
  };
}

const addStatement = statement('add-rate-limited-calls', {
  params: { calls: json<Readonly<Record<string, number>>>('json') },
  returns: { key: text, calls: int, msLeft: float },
  // Counting a call does not carry it out, so its idempotency key stays free.
  hasChanged: () => false,
  sql: `
    insert into rate_limits as r (key, count, expires_at)
    select key, value::int, now() + make_interval(secs => ${WINDOW_MS / SECOND_MS})
    from json_each_text($calls) order by key
    on conflict (key) do update set
      count = case when r.expires_at > now() then r.count else 0 end + excluded.count,
      expires_at = case when r.expires_at > now() then r.expires_at else excluded.expires_at end
    returning key, count as calls, extract(epoch from expires_at - now())::float8 * 1000 as "msLeft"`,
});

/**
 * Adds calls to the shared counts. A window that has ended starts again. Keys are locked in order, to prevent
 * deadlocks.
 */
function addCalls(db: Database, counted: readonly { key: string; calls: number }[]): Promise<Row[]> {
  return db.sql.run(addStatement, { calls: Object.fromEntries(counted.map((one) => [one.key, one.calls])) });
}

const pruneStatement = statement('prune-rate-limits', {
  params: {},
  sql: `
    delete from rate_limits where key in (
      select key from rate_limits where expires_at < now() order by key for update skip locked
    )`,
});

/** Deletes ended windows. Skips rows that another process is updating or deleting. */
async function pruneRows(db: Database): Promise<void> {
  await db.sql.run(pruneStatement, {});
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
