/** The rows of all tables. Tests use them to check that a rejected write changed nothing, and to compare transports. */
import { Prisma } from '../../src/db/client.ts';
import { onlyRow } from '../../src/db/only-row.ts';
import type { TestApp } from './test-app.ts';

export type Dump = Record<string, Record<string, unknown>[]>;

/** Tables that do not show what a request has done. `discarded_objects` is emptied in the background. */
const IGNORED_TABLES = ['discarded_objects', '_prisma_migrations'];

function listTables({ services: { db } }: TestApp): Promise<{ name: string }[]> {
  return db.$queryRaw`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> all(${IGNORED_TABLES}) order by 1`;
}

const tablesOf = new WeakMap<TestApp, ReturnType<typeof listTables>>();

/** Returns all rows of all tables, ordered by ID. */
export async function dumpTables(app: TestApp): Promise<Dump> {
  const { db } = app.services;
  const listed = tablesOf.get(app) ?? listTables(app);
  tablesOf.set(app, listed);
  const tables = await listed;
  // The names come from the catalog of PostgreSQL, so they can be used in raw SQL.
  const columns = tables.map(({ name }) =>
    Prisma.raw(`(select coalesce(json_agg(t order by (to_jsonb(t)->>'workspace_id')::bigint,
      case when to_jsonb(t)->>'id' ~ '^[0-9]+$' then (to_jsonb(t)->>'id')::bigint end, to_jsonb(t)::text),
      '[]'::json) from "${name}" t) as "${name}"`),
  );
  return onlyRow(await db.$queryRaw<Dump[]>`select ${Prisma.join(columns)}`);
}

const RANDOM_COLUMNS = [
  'password_hash',
  'token_hash',
  'invite_token',
  'file_key',
  'upload_token_hash',
  'key_prefix',
  'key_hash',
  'previous_key_hash',
  'previous_key_prefix',
  'sealed_secret',
  'code_hash',
  'sealed_token',
  'previous_sealed_secret',
  'sealed_credentials',
  'ingest_id',
  'deleted_at',
  'actor_salt',
  'actor_hash',
  'details_salt',
  'details_hash',
  'state_hash',
  'browser_hash',
  'nonce',
  'code_verifier',
  'redirect_uri',
  'challenge_hash',
  'passkey_handle',
  'uid',
];

const RANDOM_MAIL_COLUMNS = ['mail_messages.data', 'mail_messages.message_id'];

/** Whether a value is a random message or archive ID. The IDs that test scenes set themselves have other formats. */
function isRandomId(value: unknown): boolean {
  return typeof value === 'string' && /^(?:msg|rec)_[0-9a-f]{32}$/.test(value);
}

/** Replaces random IDs in a JSON value, such as the data of an event. */
function hideRandomIds(value: unknown): unknown {
  if (isRandomId(value)) return 'random';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, hideRandomIds(field)]));
}

/** Whether a room name was generated: two words. The names that test scenes set themselves have other formats. */
function isSuggestedName(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z]+-[a-z]+$/.test(value);
}

function withoutRoomName(table: string, row: Record<string, unknown>): Record<string, unknown> {
  if (table === 'mail_messages') return { ...row, message_id: 'random', data: row.data === null ? null : 'random' };
  if (table === 'rooms' && isSuggestedName(row.name)) return { ...row, name: 'random' };
  const { data } = row;
  if (table !== 'events' || typeof data !== 'object' || data === null) return row;
  return 'room_name' in data && isSuggestedName(data.room_name)
    ? { ...row, data: { ...data, room_name: 'random' } }
    : row;
}

/** Replaces random values, so that the dumps of two equal databases are equal. */
export function withoutRandomness(dump: Dump): Dump {
  return Object.fromEntries(
    Object.entries(dump).map(([table, rows]) => [
      table,
      rows.map((row) =>
        Object.fromEntries(
          Object.entries(withoutRoomName(table, row)).map(([column, value]) => [
            column,
            (RANDOM_COLUMNS.includes(column) || RANDOM_MAIL_COLUMNS.includes(`${table}.${column}`)) && value !== null
              ? 'random'
              : hideRandomIds(value),
          ]),
        ),
      ),
    ]),
  );
}
