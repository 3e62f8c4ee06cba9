/** The PostgreSQL of the benchmarks, its databases and their data. */
import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { generateApiKey } from '../src/auth/api-keys.ts';
import { createToken } from '../src/auth/tokens.ts';
import { startEmbeddedPostgres } from '../src/db/embedded.ts';
import { applyMigrations } from '../src/db/migrate.ts';

export type World = {
  /** A directory for files of the servers. */
  folder: string;
  /** Creates an empty database, and returns its URL. */
  createDatabase(name: string): Promise<string>;
  /** Writes to disk what loading has changed, so that PostgreSQL does not do it while something is measured. */
  settle(): Promise<void>;
  /** The process id of PostgreSQL's main process. */
  postgresPid: number;
  close(): Promise<void>;
};

export const log = { debug() {}, info() {}, warn() {}, error: console.error };

/** The sizes of the generated data. */
export type Sizes = { items: number; labels: number; contacts: number; contactEvents: number };

/** How many workspaces `seed-ours.sql` creates. The first is for reads. */
const WORKSPACES = 17;
const READ_WORKSPACE = 1;
const FIRST_WRITE_WORKSPACE = 2;

export const workspaces = {
  read: READ_WORKSPACE,
  write: FIRST_WRITE_WORKSPACE,
  all: Array.from({ length: WORKSPACES }, (_, index) => index + 1),
};

/** The key of a user in workspace 1 of the limit. */
export const limitKey = `lnx_${'0'.repeat(40)}`;

/** Starts a PostgreSQL of its own. It runs on the CPU of this process. */
export async function openWorld(): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'lynxroom-bench-'));
  // If root runs this, PostgreSQL runs as another account, which must be able to enter.
  await chmod(folder, 0o755);
  const settings = { max_connections: '300', shared_buffers: '512MB' };
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), settings, log });
  const role = new URL(postgres.url).username;
  const urlOf = (url: string, name: string): string => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const [row] = await query(postgres.superuserUrl, `select pg_read_file('postmaster.pid') as text`);
  const close = async (): Promise<void> => {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  };
  // PostgreSQL runs in a process group of its own, which Ctrl-C does not reach.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void close().finally(() => process.exit(1)));
  return {
    folder,
    postgresPid: Number(String(row?.text).split('\n')[0]),
    async createDatabase(name) {
      await query(postgres.superuserUrl, `create database ${name} owner ${role}`);
      return urlOf(postgres.url, name);
    },
    async settle() {
      await query(postgres.superuserUrl, 'checkpoint');
    },
    close,
  };
}

/** Runs a text of one or more statements on a connection of its own. */
export async function query(url: string, text: string, values?: unknown[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows }: pg.QueryResult<Record<string, unknown>> = await client.query(text, values);
    return rows;
  } finally {
    await client.end();
  }
}

/** Fills the database of the limit and of the naive server. */
export async function seedLimit(url: string, { items, labels }: Sizes): Promise<void> {
  await runFile(url, 'seed-limit.sql', { items, labels });
  await query(url, `insert into api_keys (workspace_id, key_hash, created_by) values (1, $1, 1)`, [hash(limitKey)]);
  await query(url, 'vacuum analyze');
}

/** Migrates and fills a database with our schema. Returns a token for each workspace, by its id. */
export async function seedOurs(
  url: string,
  { items, labels, contacts, contactEvents }: Sizes,
  credential: 'key' | 'session',
): Promise<Map<number, string>> {
  await applyMigrations({ connectionString: url, log });
  const numbers = { items, labels, contacts, contact_events: contactEvents };
  await runFile(url, 'seed-ours.sql', numbers);
  const tokens = new Map<number, string>();
  for (const id of workspaces.all) tokens.set(id, await addCredential(url, credential, id));
  await query(url, 'vacuum analyze');
  return tokens;
}

async function addCredential(url: string, credential: 'key' | 'session', workspaceId: number): Promise<string> {
  if (credential === 'key') {
    const key = generateApiKey();
    await query(
      url,
      `insert into api_keys (workspace_id, name, key_prefix, key_hash, created_by, last_used_at, created_at)
        values ($1, 'bench', left($2, 8), $3, 1, now(), now())`,
      [workspaceId, key, hash(key)],
    );
    return key;
  }
  const token = createToken('lns_');
  await query(
    url,
    `insert into sessions (user_id, token_hash, created_at, expires_at)
      values (1, $1, now(), now() + interval '1 day')`,
    [hash(token)],
  );
  return token;
}

function hash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Runs a file of SQL, with numbers in place of `:name`. */
export async function runFile(url: string, name: string, numbers: Record<string, number>): Promise<void> {
  const text = await readFile(fileURLToPath(new URL(name, import.meta.url)), 'utf8');
  await query(
    url,
    text.replace(/(?<!:):([a-z_]+)\b/g, (found, key: string) => String(numbers[key] ?? found)),
  );
}
