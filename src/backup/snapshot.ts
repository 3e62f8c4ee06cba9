/** Reads a whole database as it was at one moment, while others change it. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { to as copyTo } from 'pg-copy-streams';
import type { Connection } from '../db/connect.ts';
import { onlyRow } from '../db/only-row.ts';
import type { Sequence, Table } from './manifest.ts';

/** A backup has no rows of an unlogged table: they are of use for a minute, such as the signals of meetings. */
export type TableColumns = { name: string; columns: string[]; isUnlogged: boolean };

/** Compresses fast, to a tenth of the size of the rows. */
const COMPRESSION_LEVEL = 1;

/**
 * The tables of the service, except those that a backup does not contain: the migrations create their own table, and
 * the queue of jobs is in another schema.
 */
const LIST_TABLES = `
  SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns,
    c.relpersistence = 'u' AS "isUnlogged"
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> '_prisma_migrations'
    AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  GROUP BY c.relname, c.relpersistence ORDER BY c.relname`;

/** Lists the tables with their columns, except generated columns, which have no values of their own. */
export async function listTables(client: Connection): Promise<TableColumns[]> {
  const { rows } = await client.query<TableColumns>(LIST_TABLES);
  return rows;
}

/** Removes the time limits, since a large table may take a long time, and sets a fixed text format for values. */
export const SESSION = `SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0;
  SET client_encoding = 'UTF8'; SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET IntervalStyle = 'iso_8601';
  SET extra_float_digits = 1; SET bytea_output = 'hex'`;

/**
 * Begins the transaction that sees the database as it is now. Everything that was committed before is in it. Locks the
 * tables against changes to the schema first, as pg_dump does.
 */
export async function beginSnapshot(client: Connection, tables: readonly TableColumns[]): Promise<Date> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await client.query(`LOCK TABLE ${tables.map(({ name }) => `"${name}"`).join(', ')} IN ACCESS SHARE MODE`);
  // The first statement that reads takes the snapshot.
  const { rows } = await client.query<{ at: Date }>('SELECT clock_timestamp() AS at');
  return onlyRow(rows).at;
}

/** Writes the rows of a table to a new file. */
export async function dumpTable(
  client: Connection,
  { name, columns, isUnlogged }: TableColumns,
  path: string,
  signal: AbortSignal,
): Promise<Table> {
  const list = columns.map((column) => `"${column}"`).join(', ');
  const source = isUnlogged ? `(SELECT ${list} FROM "${name}" WHERE false)` : `"${name}" (${list})`;
  const rows = client.query(copyTo(`COPY ${source} TO STDOUT`));
  const hash = createHash('sha256');
  let bytes = 0;
  async function* hashed(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  }
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
  await pipeline(rows, createGzip({ level: COMPRESSION_LEVEL }), hashed, file, { signal });
  return { name, columns, rows: rows.rowCount ?? 0, bytes, sha256: hash.digest('hex') };
}

/**
 * Reads the sequences, as they are now and not as in the snapshot. Each is therefore at or beyond every value that the
 * rows of the snapshot have taken from it.
 */
export async function readSequences(client: Connection): Promise<Sequence[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'S' ORDER BY relname`,
  );
  const sequences: Sequence[] = [];
  for (const { name } of rows) {
    const found = await client.query<Omit<Sequence, 'name'>>(`SELECT last_value::text, is_called FROM "${name}"`);
    sequences.push({ name, ...onlyRow(found.rows) });
  }
  return sequences;
}
