/** Runs statements with `pg`, and transactions of statements. */
import type pg from 'pg';
import { currentCall } from '../core/call-bounds.ts';
import { createSharedReads } from '../core/shared-reads.ts';
import { isDatabaseError, isUnavailable, NotBegunError, retryDeadlocks } from './errors.ts';
import type { Prisma } from './generated/client.ts';
import { markExecuted } from './idempotency-keys.ts';
import { sendTogether } from './pg-internals.ts';
import type { Sql, Statement } from './statements.ts';

export type SqlDatabase = Sql & {
  /**
   * Runs a statement that only reads, and shares its rows with concurrent calls to the same feature that pass the same
   * `key`, as described at `SharedReads`. `key` must determine all parameters except the time. `toParams` is called
   * when the statement starts.
   */
  runShared<Params, Row>(statement: Statement<Params, Row>, key: string, toParams: () => Params): Promise<Row[]>;
  /**
   * Runs two statements in one round trip. Each is committed separately. The second sees the changes of the first, and
   * of every transaction that committed before it. If PostgreSQL cancels one to resolve a deadlock, both are repeated.
   */
  runBoth<First, Second>(
    first: (sql: Sql) => Promise<First>,
    second: (sql: Sql) => Promise<Second>,
  ): Promise<[First, Second]>;
  /**
   * Runs `work` in a transaction, and retries it if PostgreSQL cancels it to resolve a deadlock. `work` must have no
   * effects outside the transaction. BEGIN is sent together with the first statement. If only BEGIN fails, for example
   * because an administrator cancels it, that statement runs on its own, so it must only lock or read.
   */
  transact<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
};

/** The Prisma transactions in which a statement has added work for the background. */
export const addedWork = new WeakSet<Prisma.TransactionClient>();

/**
 * `isNamed` says whether statements are prepared, once for each connection. `onWork` is called after a commit that
 * added work. In a call with an idempotency key, everything that changes rows runs in a transaction, which also
 * records that the call was carried out. A statement outside of `transact` does not record the call if its `hasChanged`
 * returns false.
 */
export function createSql(pool: pg.Pool, isNamed: boolean, onWork: () => void): SqlDatabase {
  const on = (client: Pick<pg.Pool, 'query'>, onAdded: () => void): Sql => ({
    async run({ name, text, encode, addsWork, plansAnew }, params) {
      const values = encode(params);
      const { rows } = await client.query(isNamed && !plansAnew ? { name, text, values } : { text, values });
      if (addsWork) onAdded();
      return rows;
    },
  });
  const { run } = on(pool, onWork);
  const sharedReads = createSharedReads();
  /** Runs a transaction. `awaitsBegin` must be true if the first statement writes. */
  const runOnce = async <Result>(
    work: (sql: Sql) => Promise<Result>,
    awaitsBegin: boolean,
    hasChanged: (result: Result) => boolean = () => true,
  ): Promise<Result> => {
    let hasWork = false;
    const onAdded = (): boolean => (hasWork = true);
    const claim = currentCall.getStore()?.claim;
    const result = await runTransaction(pool, awaitsBegin, async (client) => {
      const { run } = on(client, onAdded);
      const sql: Sql = {
        run(statement, params) {
          // Those that `work` starts at once are sent in one write.
          sendTogether(client);
          return run(statement, params);
        },
      };
      const done = await work(sql);
      if (claim && hasChanged(done)) await markExecuted(sql, claim);
      return done;
    });
    if (hasWork) onWork();
    return result;
  };
  return {
    // A statement on its own changes nothing if it fails, so it can be repeated.
    run: (statement, params) =>
      retryDeadlocks(() =>
        statement.writes && currentCall.getStore()?.claim
          ? runOnce((sql) => sql.run(statement, params), true, statement.hasChanged)
          : run(statement, params),
      ),
    runShared(statement, key, toParams) {
      // Calls to different features do not share a read, because a read may have to wait until its feature is allowed
      // to use another connection.
      const feature = currentCall.getStore()?.feature;
      const read = () => retryDeadlocks(() => run(statement, toParams()));
      return sharedReads.run(`${statement.name} ${feature} ${key}`, read);
    },
    runBoth: (first, second) =>
      retryDeadlocks(async () => {
        if (currentCall.getStore()?.claim) return runOnce(async (sql) => [await first(sql), await second(sql)], true);
        const client = await pool.connect();
        const sql = on(client, onWork);
        sendTogether(client);
        const both = [first(sql), second(sql)] as const;
        await Promise.allSettled(both);
        client.release();
        return Promise.all(both);
      }),
    transact: (work) => retryDeadlocks(() => runOnce(work, false)),
  };
}

async function runTransaction<Result>(
  pool: pg.Pool,
  awaitsBegin: boolean,
  work: (client: pg.PoolClient) => Promise<Result>,
) {
  const client = await pool.connect();
  let begun: Promise<unknown> = Promise.resolve();
  try {
    sendTogether(client);
    begun = client.query('begin');
    // Statements that are sent later must not run outside a transaction, so the connection is closed.
    begun.catch(() => client.end());
    if (awaitsBegin) await begun;
    const result = await work(client);
    await begun;
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    // A connection that cannot roll back is closed, and PostgreSQL rolls back.
    await client.query('rollback').then(
      () => client.release(),
      () => client.release(true),
    );
    // The statements after BEGIN failed only because the connection was closed.
    const failure = await begun.then(
      () => error,
      (cause: unknown) => cause,
    );
    const isRefused = failure !== error && isDatabaseError(failure) && !isUnavailable(failure);
    throw isRefused ? new NotBegunError(failure.message, { cause: failure }) : failure;
  }
}

/** Runs statements in a Prisma transaction. */
export function sqlIn(tx: Prisma.TransactionClient): Sql {
  return {
    run({ text, encode, addsWork }, params) {
      if (addsWork) addedWork.add(tx);
      return tx.$queryRawUnsafe(text, ...encode(params));
    },
  };
}
