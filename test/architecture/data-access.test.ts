/**
 * How the service reaches its database: docs/data-access.md has the rules. Only the files that are named here may
 * contain what the rule is about.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

type Rule = {
  /** Matches in a line of code. Lines that are only a comment are left out. */
  pattern: RegExp;
  /** The files below `src` that may contain a match, and must. */
  files: readonly string[];
  /** Lines that must match, so that the rule cannot become empty. */
  found: readonly string[];
  /** Lines that must not match. */
  allowed?: readonly string[];
};

const rules: Record<string, Rule> = {
  'only the adapter calls the raw methods of Prisma': {
    pattern: /\$(?:query|execute)Raw/,
    files: ['db/sql.ts'],
    found: ['await tx.$queryRaw`select 1`', 'db.$executeRawUnsafe(text)'],
  },
  'nothing builds SQL with Prisma': {
    pattern: /\bPrisma\.(?:sql|raw|join|empty|Sql)\b/,
    files: [],
    found: ['Prisma.join(ids)', 'const where = Prisma.sql`true`'],
  },
  'only transact opens a transaction of Prisma': {
    pattern: /\$transaction\b/,
    files: ['db/client.ts'],
    found: ['await db.$transaction(async (tx) => {'],
  },
  // They retry deadlocks, and record that a call with an idempotency key was carried out.
  'only transact and runWrite write with the models': {
    pattern: /\bdb\.\w+\.(?:create|update|upsert|delete)\w*\(/,
    files: [],
    found: ['await db.session.deleteMany({ where })', 'services.db.user.upsert('],
    allowed: ['runWrite(db, (tx) => tx.label.updateMany({ where, data }))', 'db.sql.run(deleteStatement, {})'],
  },
  // The jobs of webhooks are added and announced in one round trip.
  'only notify sends notifications': {
    pattern: /\bpg_notify\b/,
    files: ['db/notify.ts', 'webhook-delivery/queue.ts'],
    found: ['select pg_notify($channel, $payload)::text as notified'],
  },
  // No operation lists the users of all workspaces: only a command of the operator does, by offset.
  'no list of an operation is paged with the models': {
    pattern: /\bskip: (?:page\.)?offset\b|\btake: limit\b/,
    files: ['features/auth/operator.ts'],
    found: ['take: limit + 1,', 'skip: offset,'],
  },
  'only inBatches repeats a step until its batch is not full': {
    pattern: /\bwhile \(.*=== \w*(?:BATCH|MAX|PRUNED)|\bfor \(let \w+ = (\w+); \w+ === \1;/,
    files: ['db/in-batches.ts'],
    found: [
      'while ((await db.sql.run(pruneBatch, { until })).length === PRUNE_BATCH);',
      'for (let count = BATCH_SIZE; count === BATCH_SIZE; deleted += count) count = await deleteBatch(db);',
      '  } while (taken === BATCH);',
    ],
  },
  'only one module removes files in the background': {
    pattern: /runInBackground\(.*\bremoveDiscarded/,
    files: ['storage/discarded-objects.ts'],
    found: ['void runInBackground(() => removeDiscardedObjects(services));'],
  },
  // Besides the transaction of statements, these work on a connection of their own: before the service serves requests,
  // or for an operator.
  'only the transaction of statements, migrations, repairs and backups send BEGIN': {
    pattern: /\bBEGIN\b|['"`]begin\b(?!-)|\bstart transaction\b/,
    files: [
      'backup/restore-backup.ts',
      'backup/restore-target.ts',
      'backup/snapshot.ts',
      'db/embedded-letters.ts',
      'db/embedded-role.ts',
      'db/migrate.ts',
      'db/sql.ts',
    ],
    found: ["client.query('begin')", "await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')"],
    allowed: ["statement('begin-finishing-upload', {", "throw new Error('url must begin with http://')"],
  },
  // They run before the service serves requests, or for an operator; the listener for notifications keeps its own.
  'only migrations, checks, backups, commands and the listener connect on their own': {
    pattern: /\bnew (?:pg\.)?(?:Client|Pool)\(|\bawait connect\(/,
    files: [
      'backup/restore-backup.ts',
      'backup/restore-target.ts',
      'backup/write-backup.ts',
      'db/check-database.ts',
      'db/connect.ts',
      'db/embedded-letters.ts',
      'db/embedded-role.ts',
      'db/migrate.ts',
      'db/notification-listener.ts',
      'operator/doctor.ts',
      'operator/keys.ts',
      'operator/services.ts',
      'operator/settings.ts',
      'operator/store-checks.ts',
    ],
    found: ["const client = await connect(url, 'check', log);", 'new pg.Client({', 'new Pool({ max: 1 })'],
  },
  'only db/errors.ts knows the codes and classes of database errors': {
    pattern:
      /\bDatabaseError\b|\bPrismaClient\w*Error\b|['"`](?:P\d{4}|(?:0[89]|2[1-8]|3[4BDF]|4[024]|5[3-8]|XX)[0-9A-Z]{3})['"`]/,
    files: ['db/errors.ts'],
    found: ["error.code === '23505'", "'P2002'", 'error instanceof pg.DatabaseError', "code: '40P01'"],
    allowed: ['throw new UnsuitableDatabaseError(message)', 'if (isDatabaseError(error))'],
  },
  'no error is told by its text': {
    pattern:
      /\.message\??\.(?:startsWith|endsWith|includes|match|search|indexOf)\(|\.(?:test|exec)\([^)]*(?:\.message\b|\bmeta\b|String\(error\))/,
    files: [],
    found: [
      "error.message.startsWith('Connection terminated')",
      'sqlState.test(JSON.stringify(error.meta))',
      '/deadlock/.test(error.message)',
    ],
  },
};

const paths = (await readdir(join(root, 'src'), { recursive: true }))
  .filter((path) => /(?<!\.d)\.ts$/.test(path) && !path.startsWith('db/generated/'))
  .sort();
const sources = await Promise.all(paths.map(async (path) => [path, await readLines(join(root, 'src', path))] as const));

/** The lines that are not only a comment. */
async function readLines(path: string): Promise<string[]> {
  return (await readFile(path, 'utf8')).split('\n').filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line));
}

describe.each(Object.entries(rules))('%s', (_, { pattern, files, found, allowed = [] }) => {
  test('in the source', () => {
    const matching = sources.filter(([, lines]) => lines.some((line) => pattern.test(line)));
    expect(matching.map(([path]) => path)).toEqual(files);
  });

  test('and the rule finds what it is about', () => {
    expect(found.filter((line) => !pattern.test(line))).toEqual([]);
    expect(allowed.filter((line) => pattern.test(line))).toEqual([]);
  });
});

test('no two classes that are exported have the same name', () => {
  // `instanceof` with the other class of the name is never true.
  const names = sources.flatMap(([, lines]) => lines.flatMap((line) => /^export class (\w+)/.exec(line)?.[1] ?? []));
  expect(names).toContain('LeaseLost');
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

const FILE_BLOCK = /^```ts\n\/\/ (\S+)\n(.*?)^```$/gms;

describe('the examples of docs/data-access.md', async () => {
  const page = await readFile(join(root, 'docs/data-access.md'), 'utf8');
  const blocks = [...page.matchAll(FILE_BLOCK)].map(([, path = '', code = '']) => ({ path, code }));

  test('name the file that they are from', () => {
    expect(page.match(/^```\w+$/gm)).toHaveLength(blocks.length);
    expect(blocks.length).toBeGreaterThan(0);
  });

  test.each(blocks)('$path contains the example', async ({ path, code }) => {
    expect(await readFile(join(root, path), 'utf8')).toContain(code);
  });
});
