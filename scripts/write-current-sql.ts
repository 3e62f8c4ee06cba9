/**
 * `npm run current-sql`: writes prisma/current.sql, which is what the migrations add up to. It applies all of them to
 * an embedded PostgreSQL in a temporary directory.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../src/db/embedded.ts';
import { applyMigrations } from '../src/db/migrate.ts';
import { toCurrentSql } from './describe-database.ts';

const quietLog = { debug: () => {}, info: () => {}, warn: console.error, error: console.error };
const dataDir = mkdtempSync(join(tmpdir(), 'lynxroom-current-sql-'));
// PostgreSQL does not run as root, if root runs this.
chmodSync(dataDir, 0o755);
try {
  const postgres = await startEmbeddedPostgres({
    dataDir,
    stateDir: join(dataDir, 'state'),
    settings: { fsync: 'off' },
    log: quietLog,
  });
  try {
    await applyMigrations({ connectionString: postgres.url, log: quietLog });
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    writeFileSync(new URL('../prisma/current.sql', import.meta.url), await toCurrentSql(client));
    await client.end();
  } finally {
    await postgres.stop();
  }
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
