/**
 * Named SQL statements for frequent operations: the caller's identity, lists, frequent writes and the delivery of
 * webhooks. They are sent with `pg`, on Prisma's connections, and take a quarter of the CPU time of its raw queries.
 * docs/data-access.md says when to use which.
 */

import { currentTraceparent } from '../core/tracing.ts';

/** The type of a parameter or a column. */
export type SqlType<Value> = {
  /** The name of the type in PostgreSQL. */
  readonly name: string;
  /** Converts a parameter for `pg`. Absent if `pg` converts the parameter itself. */
  readonly encode?: (value: Value) => unknown;
};

export const int: SqlType<number> = { name: 'int4' };
/** A 64-bit float. Cast `bigint` to it (`size::float8`), since `pg` returns `bigint` as text. */
export const float: SqlType<number> = { name: 'float8' };
export const text: SqlType<string> = { name: 'text' };
export const bool: SqlType<boolean> = { name: 'bool' };
export const time: SqlType<Date> = { name: 'timestamptz' };
export const bytes: SqlType<Uint8Array> = { name: 'bytea' };
export const ints: SqlType<readonly number[]> = { name: '_int4' };
export const texts: SqlType<readonly string[]> = { name: '_text' };
export const times: SqlType<readonly Date[]> = { name: '_timestamptz' };

/**
 * JSON of the type `Value`, which nothing checks. Use `json` for a column that a statement builds, because PostgreSQL
 * builds it faster than `jsonb`.
 */
export function json<Value>(name: 'json' | 'jsonb' = 'jsonb'): SqlType<Value> {
  // `pg` would send a JavaScript array as a PostgreSQL array, not as JSON.
  return { name, encode: (value) => JSON.stringify(value) };
}

/** Text with one of these values. They are not checked here, but by a check constraint or the output schema. */
export function oneOf<Value extends string>(): SqlType<Value> {
  return { name: 'text' };
}

export function nullable<Value>(type: SqlType<Value>): SqlType<Value | null> {
  const { name, encode } = type;
  return encode ? { name, encode: (value) => (value === null ? null : encode(value)) } : { name };
}

type Types = Readonly<Record<string, SqlType<never>>>;
type Values<Of> = { [Name in keyof Of]: Of[Name] extends SqlType<infer Value> ? Value : never };

/** A statement with fixed SQL. `Params` and `Row` are the types of its parameters and of the rows it returns. */
export type Statement<Params, Row> = {
  readonly name: string;
  /** The SQL, with numbered parameters. */
  readonly text: string;
  readonly params: Readonly<Record<string, SqlType<never>>>;
  readonly columns: Readonly<Record<string, SqlType<never>>>;
  /** Returns the values of the parameters in the order of their numbers. */
  encode(params: Params): unknown[];
  /** Whether it inserts events, whose span is passed as a parameter. */
  readonly addsEvents: boolean;
  /** Whether it adds work for the background: events, entries of audit logs or mail. A commit with it is announced. */
  readonly addsWork: boolean;
  /** Whether it changes rows. */
  readonly writes: boolean;
  /** Whether PostgreSQL plans it for each call, instead of once for each connection. */
  readonly plansAnew: boolean;
  /** Whether the statement changed anything, judging by the rows that it returned. */
  hasChanged(rows: Row[]): boolean;
  /** Exists only in the type. */
  readonly row?: Row;
};

/** The type of the rows that a statement returns. */
export type RowOf<Of> = Of extends Statement<never, infer Row> ? Row : never;

/** Runs statements, in a transaction or each on its own. */
export type Sql = {
  run<Params, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]>;
};

/** Matches a statement that inserts events. */
const EVENTS = /\binsert into events\b/;

/** Matches a statement that adds rows for which a process of the background waits. */
const WORK = /\binsert into (?:events|audit_log|mail_messages)\b/;

/**
 * Matches a statement that also stores the span that causes the events, so that their delivery belongs to the same
 * trace. Callers do not pass the value of its parameter.
 */
const TRACED_EVENTS = /\binsert into events \([^)]*\btraceparent\)[^;]*\$traceparent\b/;

/** Matches a statement that writes. Does not match a locking clause, such as `for update of m`. */
const WRITE = /\b(?:insert into|delete from|update (?:only )?\w+ (?:as )?(?:\w+ )?set)\b/;

/** Every statement of the modules that have been imported. A test prepares each and compares its types. */
export const allStatements = new Map<string, Statement<never, unknown>>();

/**
 * Declares a statement. In `sql`, `$name` stands for a parameter, which is cast to its type. `returns` has the columns
 * of the result. `name` must be unique in the program. Pass `hasChanged` for a statement that may change nothing and is
 * then run again. In a call with an idempotency key, the call is recorded as carried out only if `hasChanged` returns
 * true. Pass `writes` for a statement that writes in a function of the database.
 *
 * PostgreSQL plans a statement once for each connection, often while its tables are still small. With `plansAnew`, it
 * plans the statement for each call. A statement needs `plansAnew` if it joins the rows of a parameter with a table
 * that grows: the plan for a table with a single row reads the whole table. A join with `cross join lateral (... limit
 * 1)` is fine without it.
 */
export function statement<const Params extends Types, const Columns extends Types = Record<never, never>>(
  name: string,
  {
    params,
    returns,
    sql,
    hasChanged = () => true,
    plansAnew = false,
    writes = WRITE.test(sql),
  }: {
    params: Params;
    returns?: Columns;
    sql: string;
    plansAnew?: boolean;
    writes?: boolean;
    hasChanged?: (rows: Values<Columns>[]) => boolean;
  },
): Statement<Values<Params>, Values<Columns>> {
  if (allStatements.has(name)) throw new Error(`Two statements are named ${name}`);
  const addsEvents = EVENTS.test(sql);
  if (addsEvents && !TRACED_EVENTS.test(sql)) throw new Error(`Statement ${name} inserts events without $traceparent`);
  const all: Types = addsEvents ? { ...params, traceparent: nullable(text) } : params;
  const names = Object.keys(params);
  const order = Object.keys(all);
  const numbered = sql.replace(/\$([a-z]\w*)/gi, (_, param: string) => {
    const type = all[param];
    if (!type) throw new Error(`Statement ${name} has no parameter ${param}`);
    return `$${order.indexOf(param) + 1}::${type.name}`;
  });
  const created: Statement<Values<Params>, Values<Columns>> = {
    name,
    text: numbered,
    params: all,
    columns: returns ?? {},
    addsEvents,
    addsWork: WORK.test(sql),
    writes,
    hasChanged,
    plansAnew,
    encode(values) {
      const encoded = names.map((param): unknown => {
        // `as`: the values have the types that `params` declares.
        const value = values[param as keyof Params] as never;
        return params[param]?.encode?.(value) ?? value;
      });
      if (addsEvents) encoded.push(currentTraceparent());
      return encoded;
    },
  };
  allStatements.set(name, created as Statement<never, unknown>);
  return created;
}
