/** The rows of every table, to see that a refused write left no trace and that two transports leave the same one. */
import { Prisma } from '../../src/db/client.ts';
import { onlyRow } from '../../src/db/only-row.ts';
import type { TestApp } from './test-app.ts';

export type Dump = Record<string, Record<string, unknown>[]>;

/** Emptied in the background after a delete, and so no part of what a request has done. */
const PASSING = ['discarded_objects', '_prisma_migrations'];

function listTables({ services: { db } }: TestApp): Promise<{ name: string }[]> {
  return db.$queryRaw`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> all(${PASSING}) order by 1`;
}

const tablesOf = new WeakMap<TestApp, ReturnType<typeof listTables>>();

/** Every row of every table, by id. */
export async function dumpTables(app: TestApp): Promise<Dump> {
  const { db } = app.services;
  const listed = tablesOf.get(app) ?? listTables(app);
  tablesOf.set(app, listed);
  const tables = await listed;
  // Names from the catalogue, quoted: no text of a test becomes SQL.
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
  'sealed_secret',
  'previous_sealed_secret',
  'sealed_credentials',
  'ingest_id',
];

/** Ids of messages and archives are random where a request made them; those of a scene end in their number. */
function isRandomId(value: unknown): boolean {
  return typeof value === 'string' && /^(?:msg|rec)_[0-9a-f]{32}$/.test(value);
}

/** The same in a value of JSON, as the data of events is. */
function hideRandomIds(value: unknown): unknown {
  if (isRandomId(value)) return 'random';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, hideRandomIds(field)]));
}

/** Two words: a name that a room got without asking for one. Scenes give their rooms names of other forms. */
function isSuggestedName(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z]+-[a-z]+$/.test(value);
}

function withoutRoomName(table: string, row: Record<string, unknown>): Record<string, unknown> {
  if (table === 'rooms' && isSuggestedName(row.name)) return { ...row, name: 'random' };
  const { data } = row;
  if (table !== 'events' || typeof data !== 'object' || data === null) return row;
  return 'room_name' in data && isSuggestedName(data.room_name)
    ? { ...row, data: { ...data, room_name: 'random' } }
    : row;
}

/** The dump without what is random: what two equal worlds must share. */
export function withoutRandomness(dump: Dump): Dump {
  return Object.fromEntries(
    Object.entries(dump).map(([table, rows]) => [
      table,
      rows.map((row) =>
        Object.fromEntries(
          Object.entries(withoutRoomName(table, row)).map(([column, value]) => [
            column,
            RANDOM_COLUMNS.includes(column) && value !== null ? 'random' : hideRandomIds(value),
          ]),
        ),
      ),
    ]),
  );
}
