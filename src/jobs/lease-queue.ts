/**
 * The statements of a queue. Work that is done later is a row of a feature's own table, with the time at which it is
 * due and the end of its lease. `worker.ts` leases such rows and does the work.
 *
 * A process may work on a row while it holds the lease. Each lease of a row has a higher number than the one before,
 * and every statement that renews or ends a lease names its number. A process that has lost its lease changes nothing.
 */
import { onlyRow } from '../db/only-row.ts';
import { int, json, nullable, type Sql, type SqlType, statement, texts, time } from '../db/statements.ts';

/** Columns, by the property of a lease that has the value. */
type Columns = Readonly<Record<string, { readonly column: string; readonly type: SqlType<never> }>>;
type ValuesOf<Of extends Columns> = {
  [Property in keyof Of]: Of[Property]['type'] extends SqlType<infer Value> ? Value : never;
};

/** The lease of a row. `attempt` (1, 2, ...) is its number. */
export type Lease<Key extends Columns, More extends Columns> = ValuesOf<Key> & ValuesOf<More> & { attempt: number };

export type QueueTable<Key extends Columns, More extends Columns> = {
  /** The part of the names of the statements, such as `media-job`. */
  name: string;
  table: string;
  /** The primary key. */
  key: Key;
  /** What a lease has besides the key and the number. */
  columns: More;
  /** When the row is due; null if never. Needs an index. */
  dueColumn?: string;
  /** The end of the lease; null if no process has it. */
  leaseColumn?: string;
  /** The number of the last lease. */
  numberColumn?: string;
  /**
   * A column such as `workspace_id`. A row comes first if fewer rows with its value are due, so that one workspace with
   * many rows does not keep the others waiting. Among these, and without this option, the row that has been due for
   * longest comes first.
   */
  fairBy?: string;
  /** Whether the row `q` may be leased once it is due: for example, whether those before it are done. */
  where?: string;
  /** The column with the names of `only`. */
  nameColumn?: string;
};

/** `only`: the names of the rows that this process knows. */
export type LeaseLimits = { now: Date; leasedUntil: Date; max: number; only?: readonly string[] };

/** Times are those of the clock of the service, which all processes share. */
export type Queue<Held> = {
  /** Leases at most `max` due rows until `leasedUntil`. */
  lease(sql: Sql, limits: LeaseLimits): Promise<Held[]>;
  /** Extends leases. Resolves with those that this process still holds. */
  renew(sql: Sql, leases: readonly Held[], leasedUntil: Date): Promise<Held[]>;
  /** Ends a lease. The row is due again at `dueAt`. */
  release(sql: Sql, lease: Held, dueAt: Date): Promise<void>;
  /** When the next row can be leased; null if none waits. */
  findNextDue(sql: Sql, only?: readonly string[]): Promise<Date | null>;
};

/** How many of the rows that are due first `findNextDue` reads. More are hardly leased at a time. */
const MAX_READ = 100;

/**
 * Declares the statements of a queue. They skip rows that another transaction has locked, so that no process waits for
 * another.
 */
export function declareQueue<const Key extends Columns, const More extends Columns>({
  name,
  table,
  key,
  columns,
  dueColumn: due = 'next_attempt_at',
  leaseColumn: lease = 'leased_until',
  numberColumn: number = 'attempts',
  fairBy,
  where = 'true',
  nameColumn,
}: QueueTable<Key, More>): Queue<Lease<Key, More>> {
  type Held = Lease<Key, More>;
  const isLeasable = nameColumn === undefined ? where : `${where} and q.${nameColumn} = any($only)`;
  const names = nameColumn === undefined ? {} : { only: texts };
  const keys = Object.entries(key);
  const returned = Object.entries({ ...key, ...columns, attempt: { column: number, type: int } });
  const listKeys = keys.map(([, { column }]) => `q.${column}`).join(', ');
  /** The leases of the parameter `leases`. One that has expired, and whose row was leased again, is none. */
  const held = `
    from json_to_recordset($leases) as l
      (${keys.map(([property, { type }]) => `"${property}" ${type.name}`).join(', ')}, attempt int)
    where ${keys.map(([property, { column }]) => `q.${column} = l."${property}"`).join(' and ')}
      and q.${number} = l.attempt and q.${lease} is not null`;

  const leaseStatement = statement(`lease-${name}`, {
    params: { now: time, leasedUntil: time, max: int, ...names },
    returns: Object.fromEntries(returned.map(([property, { type }]) => [property, type])),
    hasChanged: (rows) => rows.length > 0,
    sql: `
      with shares as (
        select ${fairBy ?? 'null'} as owner, count(*) as waiting from ${table} where ${due} <= $now group by 1),
      due as (
        select ${listKeys} from ${table} q
        join shares on shares.owner is not distinct from ${fairBy ? `q.${fairBy}` : 'null'}
        where q.${due} <= $now and (q.${lease} is null or q.${lease} <= $now) and ${isLeasable}
        order by shares.waiting, q.${due}, ${listKeys} limit $max for update of q skip locked)
      update ${table} q set ${lease} = $leasedUntil, ${number} = q.${number} + 1
      from due where ${keys.map(([, { column }]) => `q.${column} = due.${column}`).join(' and ')}
      returning ${returned.map(([property, { column }]) => `q.${column} as "${property}"`).join(', ')}`,
  });
  const renewStatement = statement(`renew-${name}`, {
    params: { leases: json<readonly Held[]>('json'), leasedUntil: time },
    returns: Object.fromEntries([...keys.map(([property, { type }]) => [property, type]), ['attempt', int]]),
    sql: `
      update ${table} q set ${lease} = $leasedUntil ${held}
      returning ${keys.map(([property, { column }]) => `q.${column} as "${property}"`).join(', ')}, l.attempt`,
  });
  const releaseStatement = statement(`release-${name}`, {
    params: { leases: json<readonly Held[]>('json'), dueAt: time },
    sql: `update ${table} q set ${lease} = null, ${due} = $dueAt ${held}`,
  });
  const nextStatement = statement(`find-next-${name}`, {
    params: names,
    returns: { dueAt: nullable(time) },
    sql: `
      select min(greatest(due_at, leased_until)) as "dueAt" from (
        select q.${due} as due_at, q.${lease} as leased_until from ${table} q
        where q.${due} is not null and ${isLeasable} order by q.${due} limit ${MAX_READ}) waiting`,
  });
  const idOf = (row: Readonly<Record<string, unknown>>): string =>
    JSON.stringify([...keys.map(([property]) => row[property]), row.attempt]);

  return {
    // `as`: the compiler does not know the names of the columns, because they are computed.
    lease: async (sql, { only = [], ...limits }) =>
      (await sql.run(leaseStatement, { ...limits, only })) as unknown as Held[],
    async renew(sql, leases, leasedUntil) {
      const renewed = new Set((await sql.run(renewStatement, { leases, leasedUntil })).map(idOf));
      return leases.filter((lease) => renewed.has(idOf(lease)));
    },
    async release(sql, lease, dueAt) {
      await sql.run(releaseStatement, { leases: [lease], dueAt });
    },
    findNextDue: async (sql, only = []) => onlyRow(await sql.run(nextStatement, { only })).dueAt,
  };
}

/** Returns the delay after a failed attempt (1, 2, ...): it doubles from `firstMs` up to `maxMs`. */
export function backoffMs(attempt: number, { firstMs, maxMs }: { firstMs: number; maxMs: number }): number {
  return Math.min(firstMs * 2 ** Math.min(attempt - 1, 30), maxMs);
}
