/** The connection on which a process listens for notifications of PostgreSQL. It does not work through a pooler. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../core/log.ts';
import { CONNECT_TIMEOUT_MS, keepAlive } from './bounded-client.ts';
import { describeError } from './connect.ts';

/** Called with the payload of each notification, and with null if notifications may have been lost. */
export type Receive = (payload: string | null) => void;

export type NotificationListener = {
  /** Stops listening. Resolves when the connection is closed. */
  stop(): Promise<void>;
};

/** How often the connection is checked, and how long a check may take. */
const CHECK_EVERY_MS = 10_000;
const CHECK_TIMEOUT_MS = 5_000;

const MIN_RECONNECT_MS = 100;
const MAX_RECONNECT_MS = 10_000;

/**
 * Listens on the channels until it is stopped. When the first connection opens, and after a lost one is reopened, the
 * function of every channel is called with null.
 */
export function startNotificationListener(options: {
  connectionString: string;
  channels: Readonly<Record<string, Receive>>;
  log: Log;
}): NotificationListener {
  const { channels, log } = options;
  const stopping = new AbortController();

  const run = async (): Promise<void> => {
    let waitMs = MIN_RECONNECT_MS;
    while (!stopping.signal.aborted) {
      try {
        await listen(options, stopping.signal, () => {
          waitMs = MIN_RECONNECT_MS;
          for (const receive of Object.values(channels)) receive(null);
        });
      } catch (error) {
        if (stopping.signal.aborted) return;
        log.warn({ reason: describeError(error) }, 'The connection for notifications was lost');
        await pause(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
        waitMs = Math.min(waitMs * 2, MAX_RECONNECT_MS);
      }
    }
  };

  const running = run();
  return {
    stop() {
      stopping.abort();
      return running;
    },
  };
}

/** Opens a connection, and listens until `signal` aborts. Rejects when the connection is lost. */
async function listen(
  { connectionString, channels }: { connectionString: string; channels: Readonly<Record<string, Receive>> },
  signal: AbortSignal,
  onListening: () => void,
): Promise<void> {
  const client = new pg.Client({
    ...keepAlive,
    connectionString,
    application_name: 'lynxroom notifications',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CHECK_TIMEOUT_MS,
  });
  const lost = Promise.withResolvers<never>();
  // The promise is raced below, but may reject before that.
  lost.promise.catch(() => {});
  client.on('error', lost.reject);
  client.on('end', () => lost.reject(new Error('The connection has ended')));
  client.on('notification', ({ channel, payload = '' }) => channels[channel]?.(payload));
  try {
    await client.connect();
    for (const channel of Object.keys(channels)) await client.query(`listen ${client.escapeIdentifier(channel)}`);
    onListening();
    while (!signal.aborted) {
      const wait = pause(CHECK_EVERY_MS, undefined, { signal }).catch(() => {});
      await Promise.race([wait, lost.promise]);
      if (!signal.aborted) await Promise.race([client.query('select 1'), lost.promise]);
    }
  } finally {
    // Not awaited: a dead connection never confirms that it has closed.
    client.end().catch(() => {});
  }
}
