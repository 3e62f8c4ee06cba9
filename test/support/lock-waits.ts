/** Transactions of a test that make the application wait for a lock. */
import pg from 'pg';
import { expect } from 'vitest';
import { onlyRow } from '../../src/db/only-row.ts';
import type { TestApp } from './test-app.ts';

/** Resolves once at least `count` connections to the application's database wait for a lock. */
export async function waitForLockWait(app: TestApp, count = 1): Promise<void> {
  await expect.poll(() => countLockWaits(app)).toBeGreaterThanOrEqual(count);
}

/** Resolves once a connection waits for a lock, or `call` has ended without one. */
export async function waitForLockWaitOr(app: TestApp, call: Promise<unknown>): Promise<void> {
  let hasEnded = false;
  const end = (): void => {
    hasEnded = true;
  };
  call.then(end, end);
  await expect.poll(async () => hasEnded || (await countLockWaits(app)) > 0).toBe(true);
}

async function countLockWaits(app: TestApp): Promise<number> {
  const rows = await app.services.db.$queryRaw<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  return onlyRow(rows).count;
}

/**
 * Starts `call` while a transaction of the test holds the lock that `lockSql` takes, waits until the call is blocked
 * by it, runs `change` in that transaction, and commits or rolls back. Resolves with the result of the call.
 */
export async function changeWhileBlocked<Result>(
  app: TestApp,
  lockSql: string,
  call: () => Promise<Result>,
  change: (client: pg.Client) => Promise<unknown> = async () => {},
  end: 'commit' | 'rollback' = 'commit',
): Promise<Result> {
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query(lockSql);
    const blocked = call();
    await waitForLockWait(app);
    await change(client);
    await client.query(end);
    return await blocked;
  } finally {
    await client.end();
  }
}
