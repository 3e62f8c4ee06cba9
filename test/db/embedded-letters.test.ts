/** The letters of the embedded PostgreSQL: those of all scripts, also in databases that earlier versions created. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as embedded from '@lynxroom/embedded-postgres';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../src/db/embedded.ts';
import { repairLetters } from '../../src/db/embedded-letters.ts';
import { eventually } from '../support/eventually.ts';
import { quietLog } from '../support/quiet-log.ts';
import { makeTempDir } from '../support/temp-dir.ts';

const NAMES = ['Договор', 'ΣΎΜΒΑΣΗ', 'עסקה', '契約書です', 'istanbul', 'İSTANBUL', 'Zebra', 'éclair'];
/** Finds each name by its letters without the first and the last one, in the other case. */
const SEARCHES = NAMES.map((name) => [...name].slice(1, -1).join('')).map((part) =>
  part === part.toLowerCase() ? part.toUpperCase() : part.toLowerCase(),
);

let dataDir: string;
let options: { dataDir: string; stateDir: string; log: typeof quietLog };
let messages: string[];
beforeEach(async () => {
  dataDir = await makeTempDir();
  messages = [];
  const log = { ...quietLog, info: (_details: object, message: string) => messages.push(message) };
  options = { dataDir, stateDir: join(dataDir, 'state'), log };
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

async function query(url: string, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** Starts PostgreSQL with a database as earlier versions created it. */
async function startEarlier(): Promise<embedded.EmbeddedPostgres> {
  const postgres = await embedded.startEmbeddedPostgres({ database: 'lynxroom', ...options });
  await query(postgres.url, `update pg_database set datctype = 'C' where datname = current_database()`);
  const values = NAMES.map((name) => `('${name}')`).join();
  await query(
    postgres.url,
    `create extension pg_trgm; create table files (name text not null); insert into files values ${values}`,
    'create index files_search on files using gin (name gin_trgm_ops)',
  );
  return postgres;
}

/** What each search finds, in the order of the database, with the index or without it. */
async function search(url: string, usesIndex: boolean): Promise<unknown[]> {
  const settings = usesIndex ? 'set enable_seqscan = off' : 'set enable_bitmapscan = off';
  const found = [];
  for (const text of SEARCHES) {
    const select = `select name from files where name ilike '%${text}%' order by name`;
    const plan = await query(url, settings, `explain ${select}`);
    expect(JSON.stringify(plan).includes('files_search')).toBe(usesIndex);
    found.push((await query(url, settings, select)).map(({ name }) => name));
  }
  return found;
}

const LETTERS = `select show_trgm('договор') <> '{}' as "hasLetters"`;

test('a database of an earlier version gets them at the next start, once, and keeps its order', async () => {
  const before = await startEarlier();
  expect(await query(before.url, LETTERS)).toEqual([{ hasLetters: false }]);
  const found = await search(before.url, false);
  expect(found).toContainEqual(['istanbul', 'İSTANBUL']);
  await before.stop();

  for (const rebuilds of [1, 1]) {
    const after = await startEmbeddedPostgres(options);
    expect(await query(after.url, LETTERS)).toEqual([{ hasLetters: true }]);
    expect(await search(after.superuserUrl, false)).toEqual(found);
    expect(await search(after.superuserUrl, true)).toEqual(found);
    expect(messages.filter((message) => message.startsWith('Rebuilding'))).toHaveLength(rebuilds);
    await after.stop();
  }
});

test('a repair that is killed before it has rebuilt the indexes is completed by the next one', async () => {
  const postgres = await startEarlier();
  const found = await search(postgres.url, false);
  const reader = new pg.Client({ connectionString: postgres.url });
  await reader.connect();
  await reader.query('begin; select from files');
  const killed = repairLetters(postgres.url, options.log).catch((error: Error) => error.message);
  const isWaiting = `select pg_terminate_backend(pid) from pg_locks where not granted`;
  await eventually(async () => (await query(postgres.url, isWaiting)).length > 0);
  expect(await killed).toMatch(/terminat/);
  await reader.end();
  // The index is not used while it lacks letters.
  const isValid = `select indisvalid as "isValid" from pg_index where indexrelid = 'files_search'::regclass`;
  expect(await query(postgres.url, isValid)).toEqual([{ isValid: false }]);

  await repairLetters(postgres.url, options.log);
  expect(await query(postgres.url, isValid)).toEqual([{ isValid: true }]);
  expect(await search(postgres.url, true)).toEqual(found);
  await postgres.stop();
});

test('a letter and its lower case have the same trigrams, so that both find the same', async () => {
  const postgres = await startEmbeddedPostgres(options);
  // Newer letters, in the planes behind, may be unknown to the C library.
  const letters = `select chr(i) as letter from generate_series(1, 12287) i where lower(chr(i)) <> chr(i)`;
  const differing = `select letter from (${letters}) l
    where show_trgm('ab' || letter || 'cd') <> show_trgm('ab' || lower(letter) || 'cd')`;
  expect((await query(postgres.superuserUrl, 'create extension pg_trgm', letters)).length).toBeGreaterThan(1_000);
  expect(await query(postgres.superuserUrl, differing)).toEqual([]);
  await postgres.stop();
});
