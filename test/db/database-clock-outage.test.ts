/** The clock of the service while its database is away. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/db/client.ts';
import { type DatabaseClock, readDatabaseTime, startDatabaseClock } from '../../src/db/database-clock.ts';
import { eventually } from '../support/eventually.ts';
import { quietLog } from '../support/quiet-log.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { createDatabase, type TestDatabase } from '../support/test-app.ts';

let database: TestDatabase;
let proxy: TcpProxy;
let db: Database;
let clock: DatabaseClock;
let warnings: string[];
/** Of each measurement, in order. */
let outcomes: ('measured' | 'failed')[];
/** Starts a measurement, as the clock does every 30 seconds. */
let measure: () => void;

beforeEach(async () => {
  database = await createDatabase();
  proxy = await startTcpProxy(database.url);
  db = openDatabase({ connectionString: proxy.url, poolSize: 1, statementTimeoutMs: 1_000, onError: () => {} });
  warnings = [];
  outcomes = [];
  const readTime = async (): Promise<number> => {
    const time = await readDatabaseTime(db).catch((error: unknown) => {
      outcomes.push('failed');
      throw error;
    });
    outcomes.push('measured');
    return time;
  };
  const every = (_ms: number, tick: () => void): (() => void) => {
    measure = tick;
    return () => {};
  };
  const log = { ...quietLog, warn: (_details: object, message: string) => void warnings.push(message) };
  clock = await startDatabaseClock({ readTime, log, ticker: { now: () => performance.now(), every } });
});
afterEach(async () => {
  await clock.stop();
  await db.$disconnect();
  await proxy.close();
  await database.drop();
});

test.each(['refuse', 'breakDown'] as const)(
  'the clock runs on without its database, and finds it again: %s',
  async (fault) => {
    const before = clock.now().getTime();
    proxy[fault]();
    for (const count of [1, 2]) {
      measure();
      await eventually(async () => outcomes.filter((outcome) => outcome === 'failed').length === count);
    }
    expect(clock.now().getTime()).toBeGreaterThan(before);
    expect(warnings).toEqual(['Failed to read the clock of the database: continuing with the last measurement']);
    proxy.repair();
    await eventually(async () => {
      measure();
      return outcomes.at(-1) === 'measured';
    });
    const earliest = await readDatabaseTime(db);
    const now = clock.now().getTime();
    expect(now).toBeGreaterThan(earliest - 1_000);
    expect(now).toBeLessThan((await readDatabaseTime(db)) + 1_000);
  },
);
