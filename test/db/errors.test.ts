/** The errors of the database are told by their codes, the same through each door, and never by their text. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, openDatabase, type Tx } from '../../src/db/client.ts';
import {
  isExclusionViolation,
  isForeignKeyViolation,
  isInvalidParameter,
  isUnavailable,
  isUniqueViolation,
  retryDeadlocks,
} from '../../src/db/errors.ts';
import { ConnectionLostError, DatabaseTimeoutError } from '../../src/db/refused-calls.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { statement, text } from '../../src/db/statements.ts';
import { createDatabase } from '../support/test-app.ts';

/** A message that names other errors than the code, as a translated or changed one might. */
const MISLEADING =
  'duplicate key 23505 23503 23P01 40001 40P01 57014: deadlock, Statement timeout, Connection terminated unexpectedly';

let database: Awaited<ReturnType<typeof createDatabase>>;
let db: Database;

beforeAll(async () => {
  database = await createDatabase();
  db = openDatabase({ connectionString: database.url, poolSize: 2, onError: () => {} });
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  // An insert fails with the code that it inserts.
  await admin.query(`
    create function raise_code() returns trigger language plpgsql as $$
      begin raise exception '${MISLEADING}' using errcode = new.slug; end $$;
    create trigger raise_code before insert on slug_suffixes for each row execute function raise_code()`);
  await admin.end();
});
afterAll(async () => {
  await db.$disconnect();
  await database.drop();
});

const raise = statement('test-raise-code', {
  params: { slug: text },
  sql: 'insert into slug_suffixes (slug, last) values ($slug, 1)',
});

/** Each way in which a statement reaches the database. */
const doors: Record<string, (slug: string) => Promise<unknown>> = {
  'a statement': (slug) => db.sql.run(raise, { slug }),
  'a statement in its own transaction': (slug) => db.sql.transact((sql) => sql.run(raise, { slug })),
  'a statement in a transaction of Prisma': (slug) => inTransaction((tx) => sqlIn(tx).run(raise, { slug })),
  'a model': (slug) => db.slugSuffix.create({ data: { slug, last: 1 } }),
  'a model in a transaction': (slug) => inTransaction((tx) => tx.slugSuffix.create({ data: { slug, last: 1 } })),
};

function inTransaction(work: (tx: Tx) => Promise<unknown>): Promise<unknown> {
  return db.$transaction(work);
}

const kinds = { isUniqueViolation, isForeignKeyViolation, isExclusionViolation, isInvalidParameter, isUnavailable };

function kindsOf(error: unknown): string[] {
  return Object.entries(kinds).flatMap(([name, isKind]) => (isKind(error) ? name : []));
}

describe.each(Object.entries(doors))('through %s', (_, insert) => {
  test.each([
    ['23505', ['isUniqueViolation']],
    ['23503', ['isForeignKeyViolation']],
    ['23P01', ['isExclusionViolation']],
    ['22023', ['isInvalidParameter']],
    ['08006', ['isUnavailable']],
    ['53100', ['isUnavailable']],
    ['53300', ['isUnavailable']],
    ['55P03', ['isUnavailable']],
    ['57014', ['isUnavailable']],
    ['57P03', ['isUnavailable']],
    // A failed check, and a bug in a statement.
    ['23514', []],
    ['42703', []],
    ['P0001', []],
  ])('the code %s is %j', async (code, expected) => {
    const error: unknown = await insert(code).then(
      () => 'no error',
      (cause: unknown) => cause,
    );
    expect(error).toBeInstanceOf(Error);
    expect(kindsOf(error)).toEqual(expected);
  });
});

describe.each(Object.entries(doors).filter(([name]) => / of Prisma|model/.test(name)))('through %s', (_, insert) => {
  test.each([
    ['40P01', 5],
    ['40001', 5],
    ['57014', 1],
  ])('the code %s is tried %i times', async (code, tries) => {
    let count = 0;
    const work = retryDeadlocks(() => {
      count += 1;
      return insert(code);
    });
    await expect(work).rejects.toThrow();
    expect(count).toBe(tries);
  });
});

test('errors without a code have a class', () => {
  expect(kindsOf(new ConnectionLostError(new Error('Connection terminated')))).toEqual(['isUnavailable']);
  expect(kindsOf(new DatabaseTimeoutError('Statement timeout'))).toEqual(['isUnavailable']);
});

test('an error with the same text, but without a code or class, is of no kind', () => {
  expect(kindsOf(new Error(MISLEADING))).toEqual([]);
  expect(kindsOf(new Error('failed', { cause: MISLEADING }))).toEqual([]);
  expect(kindsOf(MISLEADING)).toEqual([]);
});
