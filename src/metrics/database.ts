import { Counter, Gauge, type Registry } from 'prom-client';
import { inTime } from '../core/in-time.ts';
import type { Database } from '../db/client.ts';
import { readMailBacklog } from '../mail/outbox.ts';
import { lanes, readQueueBacklog, readRelayBacklog } from '../webhook-delivery/backlog.ts';
import { transactByIndex } from '../webhook-delivery/by-index.ts';

/** How long a scrape waits for the database. Prometheus gives up after 10 s by default. */
const TIMEOUT_MS = 2_000;

/** A group of metrics that a scrape reads from the database. */
type Source = {
  name: string;
  read(): Promise<void>;
  /** Removes the values, so that a scrape shows none instead of old ones. */
  clear(): void;
};

export type DatabaseMetrics = {
  /** Reads the database. Resolves within `TIMEOUT_MS`, whether or not the database responds. */
  read(): Promise<void>;
};

/** Measures the use of the connection pool, and how much work waits in the database. */
export function observeDatabase(db: Database, registry: Registry): DatabaseMetrics {
  observePool(db, registry);
  const errors = new Counter({
    name: 'lynxroom_scrape_errors_total',
    help: 'Scrapes that lack the metrics of this source, because the database failed or took too long',
    labelNames: ['source'],
    registers: [registry],
  });
  const sources = [createRelaySource(db, registry), createQueueSource(db, registry), createMailSource(db, registry)];
  const reads = sources.map((source) => {
    errors.inc({ source: source.name }, 0);
    return createBoundedRead(source, () => errors.inc({ source: source.name }));
  });
  return {
    async read() {
      await Promise.all(reads.map((read) => read()));
    },
  };
}

function observePool(db: Database, registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: 'lynxroom_database_pool_connections',
    help: 'Connections of the pool: in use by a call, or open and idle',
    labelNames: ['state'],
    registers,
    collect() {
      const { inUse, idle } = db.poolUse();
      this.set({ state: 'in_use' }, inUse);
      this.set({ state: 'idle' }, idle);
    },
  });
  new Gauge({
    name: 'lynxroom_database_pool_waiting_calls',
    help: 'Calls that are waiting for a connection',
    registers,
    collect() {
      this.set(db.poolUse().waiting);
    },
  });
  new Gauge({
    name: 'lynxroom_database_pool_max_connections',
    help: 'The maximum number of connections, DATABASE_POOL_SIZE',
    registers,
  }).set(db.poolUse().max);
}

function createRelaySource(db: Database, registry: Registry): Source {
  const registers = [registry];
  const events = new Gauge({
    name: 'lynxroom_relay_waiting_events',
    help: 'Events that are not relayed yet, counted up to 10,000',
    registers,
  });
  const age = new Gauge({
    name: 'lynxroom_relay_lag_seconds',
    help: 'Age of the oldest event that is not relayed yet; 0 if there is none',
    registers,
  });
  const clear = (): void => {
    events.remove();
    age.remove();
  };
  clear();
  return {
    name: 'relay',
    async read() {
      const backlog = await readRelayBacklog(db);
      events.set(backlog.events);
      age.set(backlog.oldestSeconds);
    },
    clear,
  };
}

function createQueueSource(db: Database, registry: Registry): Source {
  const registers = [registry];
  const jobs = new Gauge({
    name: 'lynxroom_webhook_queue_jobs',
    help: 'Attempts that are waiting: due now, or scheduled for later. Counts up to 20,000 in each lane',
    labelNames: ['lane', 'state'],
    registers,
  });
  const age = new Gauge({
    name: 'lynxroom_webhook_queue_oldest_seconds',
    help: 'How long the oldest attempt has been due; 0 if none is due',
    labelNames: ['lane'],
    registers,
  });
  return {
    name: 'webhook_queue',
    async read() {
      const backlog = await readQueueBacklog(db);
      for (const lane of lanes) {
        const { due, scheduled, oldestSeconds } = backlog[lane];
        jobs.set({ lane, state: 'due' }, due);
        jobs.set({ lane, state: 'scheduled' }, scheduled);
        age.set({ lane }, oldestSeconds);
      }
    },
    clear() {
      jobs.reset();
      age.reset();
    },
  };
}

function createMailSource(db: Database, registry: Registry): Source {
  const registers = [registry];
  const messages = new Gauge({
    name: 'lynxroom_mail_queue_messages',
    help: 'Messages that are waiting: due now, or scheduled for another attempt. Counts up to 10,000',
    labelNames: ['state'],
    registers,
  });
  const age = new Gauge({
    name: 'lynxroom_mail_queue_oldest_seconds',
    help: 'How long the oldest message has been due; 0 if none is due',
    registers,
  });
  const clear = (): void => {
    messages.reset();
    age.remove();
  };
  clear();
  return {
    name: 'mail',
    async read() {
      const { due, scheduled, oldestSeconds } = await transactByIndex(db.sql, readMailBacklog);
      messages.set({ state: 'due' }, due);
      messages.set({ state: 'scheduled' }, scheduled);
      age.set(oldestSeconds);
    },
    clear,
  };
}

/**
 * Returns a function that reads a source. If the read fails or times out, the function clears the source and calls
 * `onError`. Only one read runs at a time, so a slow database gets one statement at a time.
 */
function createBoundedRead({ read, clear }: Source, onError: () => void): () => Promise<void> {
  let reading: Promise<boolean> | null = null;
  return async () => {
    reading ??= read()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        reading = null;
      });
    if (await inTime(reading, TIMEOUT_MS, false)) return;
    clear();
    onError();
  };
}
