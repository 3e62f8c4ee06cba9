/** An overloaded database is reported as such, and not as our bug. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase, transact } from '../../src/db/client.ts';
import { isUnavailable } from '../../src/db/errors.ts';
import { fromUnexpected } from '../../src/trpc/errors.ts';
import { createDatabase } from '../support/test-app.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let db: Database;

beforeAll(async () => {
  database = await createDatabase();
  db = openDatabase({ connectionString: database.url, poolSize: 1, poolTimeoutMs: 200, onError: () => {} });
});
afterAll(async () => {
  await db.$disconnect();
  await database.drop();
});

/** Runs `work` while a transaction holds the only connection, and returns its error. */
async function whileHeld(work: () => Promise<unknown>): Promise<unknown> {
  for (;;) {
    try {
      return await transact(db, async (tx) => {
        await tx.$queryRaw`select 1`;
        return work().then(
          () => 'done',
          (error: unknown) => error,
        );
      });
    } catch (error) {
      // On a busy machine this transaction itself can get no connection in time.
      if (!isUnavailable(error)) throw error;
    }
  }
}

test.each<[string, () => Promise<unknown>]>([
  ['a query', () => db.user.count()],
  ['raw SQL', () => db.$queryRaw`select 1`],
  ['a transaction', () => db.$transaction((tx) => tx.user.count())],
])('%s that gets no connection in time is an overload, which is answered with 503', async (_, work) => {
  const error = await whileHeld(work);
  expect(isUnavailable(error)).toBe(true);
  expect(fromUnexpected(error)).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: 'The service is busy: try again in a moment',
  });
});

test('any other failure is not an overload', async () => {
  const error = await db.$queryRaw`select no_such_column`.catch((cause: unknown) => cause);
  expect(isUnavailable(error)).toBe(false);
});
