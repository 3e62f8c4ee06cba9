/** The rows of all tables. Tests use them to check that a rejected write changed nothing, and to compare transports. */
import pg from 'pg';
import { onlyRow } from '../../src/db/only-row.ts';
import type { TestApp } from './test-app.ts';

export type Dump = Record<string, Record<string, unknown>[]>;

/** Tables that do not show what a request has done. `discarded_objects` is emptied in the background. */
const IGNORED_TABLES = ['discarded_objects', '_prisma_migrations'];

/** How many states of each table are remembered. */
const MAX_STATES = 4;

/** Returns all rows of all tables, ordered by ID. Rows that did not change are the same objects, and frozen. */
export async function dumpTables(app: TestApp): Promise<Dump> {
  const dumper = dumpers.get(app) ?? startDumper(app);
  dumpers.set(app, dumper);
  return (await dumper)();
}

const dumpers = new WeakMap<TestApp, Promise<() => Promise<Dump>>>();

/**
 * Most dumps show that nothing has changed. So a prepared statement reads a hash of each table, and only tables that
 * are in a new state are read. Reading all of them every time would be most of the work of the contract tests.
 */
async function startDumper({ superuserUrl }: TestApp): Promise<() => Promise<Dump>> {
  const client = new pg.Client({ connectionString: superuserUrl });
  // Closing the application drops the database, which ends this connection.
  client.on('error', () => {});
  await client.connect();
  const tables = await listTables(client);
  const states = new Map(tables.map((table) => [table, new Map<string, Dump[string]>()]));
  const hashes = { name: 'hash_tables', text: `select ${tables.map(hashOf).join(', ')}` };
  const readHashes = async (): Promise<Record<string, string>> => onlyRow((await client.query(hashes)).rows);

  const remember = (table: string, hash: string, rows: Dump[string]): void => {
    const known = states.get(table) ?? new Map();
    known.delete(hash);
    known.set(hash, rows);
    for (const oldest of [...known.keys()].slice(0, -MAX_STATES)) known.delete(oldest);
  };

  const dump = async (): Promise<Dump> => {
    await client.query('begin isolation level repeatable read read only');
    try {
      const now = await readHashes();
      const isNew = (table: string): boolean => !states.get(table)?.has(now[table] ?? '');
      const read = await readRows(client, tables.filter(isNew));
      return Object.fromEntries(
        tables.map((table) => {
          const hash = now[table] ?? '';
          const rows = states.get(table)?.get(hash) ?? read[table] ?? [];
          remember(table, hash, rows);
          return [table, rows];
        }),
      );
    } finally {
      await client.query('rollback');
    }
  };

  let last: Promise<unknown> = Promise.resolve();
  return () => {
    // One after another, because they share the connection.
    const next = last.then(dump);
    last = next.catch(() => {});
    return next;
  };
}

async function listTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> all($1) order by 1`,
    [IGNORED_TABLES],
  );
  return rows.map(({ name }) => name);
}

function hashOf(table: string): string {
  const name = pg.escapeIdentifier(table);
  return `(select md5(coalesce(string_agg(t::text, E'\\n' order by t::text), '')) from ${name} t) as ${name}`;
}

async function readRows(client: pg.Client, tables: readonly string[]): Promise<Dump> {
  if (tables.length === 0) return {};
  const columns = tables.map((table) => {
    const name = pg.escapeIdentifier(table);
    return `(select coalesce(json_agg(t order by (to_jsonb(t)->>'workspace_id')::bigint,
      case when to_jsonb(t)->>'id' ~ '^[0-9]+$' then (to_jsonb(t)->>'id')::bigint end, to_jsonb(t)::text),
      '[]'::json) from ${name} t) as ${name}`;
  });
  const dump = onlyRow((await client.query<Dump>(`select ${columns.join(', ')}`)).rows);
  for (const rows of Object.values(dump)) Object.freeze(rows.map(Object.freeze));
  return dump;
}

const RANDOM_COLUMNS = [
  'password_hash',
  'token_hash',
  'invite_hash',
  'sealed_invite',
  'invite_token',
  'file_key',
  'poster_key',
  'logo_key',
  'upload_token_hash',
  'key_prefix',
  'key_hash',
  'previous_key_hash',
  'previous_key_prefix',
  'sealed_secret',
  'code_hash',
  'confirm_hash',
  'link_hash',
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
  'resource',
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

/** Whether a room name was generated: two words, and perhaps a number. The names of test scenes have other formats. */
function isSuggestedName(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z]+-[a-z]+(?:-\d{4,6})?$/.test(value);
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
