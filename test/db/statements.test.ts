/** Every statement of the program is accepted by PostgreSQL, with the parameters and columns that its type states. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sqlIn } from '../../src/db/sql.ts';
import { allStatements, bytes, int, ints, json, nullable, statement, text, time } from '../../src/db/statements.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const source = join(import.meta.dirname, '../../src');

for (const file of await readdir(source, { recursive: true })) {
  if (!file.endsWith('.ts') || file === 'db/statements.ts') continue;
  const path = join(source, file);
  if (/\b(statement\(\s*'|declareQueue\(\{)/.test(await readFile(path, 'utf8'))) await import(path);
}

// A worker loads many files of tests. Some declare statements for tables of their own.
const declaredInSource = [...allStatements.values()].filter(({ name }) => !name.includes('test-'));

type Field = { name: string; dataTypeID: number };
type Described = { params: number[]; columns: Field[] };

let app: TestApp;
let client: pg.Client;
let typeNames: Map<number, string>;

beforeAll(async () => {
  app = await startTestApp();
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ oid: number; typname: string }>('select oid, typname from pg_type');
  typeNames = new Map(rows.map(({ oid, typname }) => [Number(oid), typname]));
});
afterAll(async () => {
  await client.end();
  await app.close();
});

/** Prepares a statement and returns its description, as PostgreSQL gives it (section 54.2.3 of its documentation). */
function describeStatement(name: string, sql: string): Promise<Described> {
  const { promise, resolve, reject } = Promise.withResolvers<Described>();
  const described: Described = { params: [], columns: [] };
  const query = {
    submit(connection: pg.Connection & { describe(what: object): void; stream: NodeJS.EventEmitter }) {
      connection.once('parameterDescription', (message: { dataTypeIDs: number[] }) => {
        described.params = message.dataTypeIDs;
      });
      connection.parse({ name, text: sql, types: [] }, true);
      connection.describe({ type: 'S', name });
      connection.sync();
    },
    handleRowDescription({ fields }: { fields: Field[] }) {
      described.columns = fields;
    },
    handleReadyForQuery: () => resolve(described),
    handleError: reject,
  };
  client.query(query as unknown as pg.Submittable);
  return promise;
}

test('the source declares statements', () => {
  expect(declaredInSource.length).toBeGreaterThan(0);
});

describe.each(declaredInSource)('$name', ({ name, text: sql, params, columns }) => {
  test('has the parameters and columns that it declares', async () => {
    const described = await describeStatement(name, sql);
    expect(described.params.map((oid) => typeNames.get(oid))).toEqual(Object.values(params).map((type) => type.name));
    expect(described.columns.map((field) => [field.name, typeNames.get(field.dataTypeID)])).toEqual(
      Object.entries(columns).map(([column, type]) => [column, type.name]),
    );
  });
});

const echo = statement('test-echo', {
  params: { number: int, words: text, at: time, data: bytes, object: json<object>(), list: ints, none: nullable(text) },
  returns: {
    number: int,
    words: text,
    at: time,
    data: bytes,
    object: json<object>(),
    list: ints,
    none: nullable(text),
  },
  sql: 'select $number number, $words words, $at at, $data data, $object object, $list list, $none "none"',
});
const values = {
  number: -7,
  words: "it's $words",
  at: new Date('2026-03-29T01:30:00.123Z'),
  data: new Uint8Array([0, 255]),
  object: [{ a: [1, null] }],
  list: [3, 1],
  none: null,
};

describe('a value of each type returns unchanged', () => {
  test('from a statement on its own', async () => {
    const [row] = await app.services.db.sql.run(echo, values);
    expect({ ...row, data: new Uint8Array(row?.data ?? []) }).toEqual(values);
  });

  test('from a transaction', async () => {
    const [row] = await app.services.db.sql.transact((sql) => sql.run(echo, values));
    expect({ ...row, data: new Uint8Array(row?.data ?? []) }).toEqual(values);
  });

  test('from a transaction of Prisma', async () => {
    const [row] = await app.services.db.$transaction((tx) => sqlIn(tx).run(echo, values));
    expect({ ...row, data: new Uint8Array(row?.data ?? []) }).toEqual(values);
  });
});

describe('a transaction', () => {
  const create = statement('test-create-user', {
    params: { email: text },
    returns: { id: int },
    sql: `insert into users (name, email, password_hash, created_at) values ('Ada', $email, 'x', now()) returning id`,
  });
  const count = statement('test-count-users', {
    params: { email: text },
    returns: { count: int },
    sql: 'select count(*)::int as count from users where email = $email',
  });

  test('is committed when its work succeeds', async () => {
    const { sql } = app.services.db;
    await sql.transact((tx) => tx.run(create, { email: 'kept@example.com' }));
    expect(await sql.run(count, { email: 'kept@example.com' })).toEqual([{ count: 1 }]);
  });

  test('is rolled back when its work fails, and its connection can be used again', async () => {
    const { sql } = app.services.db;
    const failing = sql.transact(async (tx) => {
      await tx.run(create, { email: 'gone@example.com' });
      throw new Error('Refused');
    });
    await expect(failing).rejects.toThrow('Refused');
    expect(await sql.run(count, { email: 'gone@example.com' })).toEqual([{ count: 0 }]);
  });

  test('is repeated after a deadlock', async () => {
    const { sql } = app.services.db;
    const lock = statement('test-lock-user', {
      params: { email: text },
      sql: 'update users set name = name where email = $email',
    });
    for (const email of ['one@example.com', 'two@example.com']) await sql.run(create, { email });
    let [attempts, firstLocks] = [0, 0];
    const both = Promise.withResolvers<void>();
    const lockInOrder = (first: string, second: string) =>
      sql.transact(async (tx) => {
        attempts += 1;
        await tx.run(lock, { email: first });
        firstLocks += 1;
        if (firstLocks === 2) both.resolve();
        await both.promise;
        await tx.run(lock, { email: second });
      });
    await Promise.all([
      lockInOrder('one@example.com', 'two@example.com'),
      lockInOrder('two@example.com', 'one@example.com'),
    ]);
    expect(attempts).toBeGreaterThan(2);
  });

  test.each([
    [false, 1],
    [true, 0],
  ])('with plansAnew: %s it is prepared %i times', async (plansAnew, prepared) => {
    const label = String(plansAnew);
    const read = statement(`test-prepared-${label}`, {
      plansAnew,
      params: {},
      returns: { one: int },
      sql: 'select 1 as one',
    });
    const countPrepared = statement(`test-count-prepared-${label}`, {
      params: { name: text },
      returns: { count: int },
      sql: 'select count(*)::int as count from pg_prepared_statements where name = $name',
    });
    const found = await app.services.db.sql.transact(async (tx) => {
      await tx.run(read, {});
      return tx.run(countPrepared, { name: read.name });
    });
    expect(found).toEqual([{ count: prepared }]);
  });
});

/** Rows of a parameter that a statement joins with a table, unless it looks up each of them with a limit. */
const JOINED_ROWS = /\b(?:from|join) jsonb_to_recordset\((?!.*\bjoin lateral\b)/s;
const UPDATE_OR_JOIN = /\bupdate \w+ \w+ set\b|\)\s+join \w+/;

test.each(
  declaredInSource.filter(({ text }) => JOINED_ROWS.test(text) && UPDATE_OR_JOIN.test(text)).map(({ name }) => name),
)('%s joins rows of a parameter with a table, and is therefore planned for each call', (name) => {
  expect(allStatements.get(name)?.plansAnew).toBe(true);
});

test('two statements cannot have the same name, a text no unknown parameter, and an event no unknown cause', () => {
  const again = () => statement('find-session', { params: {}, sql: 'select 1' });
  expect(again).toThrow('Two statements are named find-session');
  const untraced = () =>
    statement('test-untraced', { params: {}, sql: 'insert into events (workspace_id, type) values (1, 2)' });
  expect(untraced).toThrow('Statement test-untraced inserts events without $traceparent');
  const unknown = () => statement('test-unknown', { params: { id: int }, sql: 'select $other' });
  expect(unknown).toThrow('Statement test-unknown has no parameter other');
});
