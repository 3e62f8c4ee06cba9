/** Starts one PostgreSQL for the test run, with a migrated template database that tests clone. */
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/db/embedded.ts';
import { applyMigrations } from '../../src/db/migrate.ts';
import { pgbouncerPath } from './pgbouncer.ts';
import { hasPrometheus } from './prometheus.ts';
import { quietLog } from './quiet-log.ts';
import { makeTempDir, replaceTempDir } from './temp-dir.ts';

const TEMPLATE = 'lynxroom_template';

const SETTINGS = {
  // Enough for the workers that vitest.config.ts allows, with several connection pools each.
  max_connections: '400',
  // The cluster need not survive a crash of the machine. It survives that of any process.
  fsync: 'off',
  full_page_writes: 'off',
  // Tests open thousands of connections. With one iteration, checking the password takes no time.
  scram_iterations: '1',
};

declare module 'vitest' {
  export interface ProvidedContext {
    /** The connection string of a superuser. */
    postgresUrl: string;
    /** The connection string of the service's role, which is not a superuser and owns the tests' databases. */
    roleUrl: string;
    templateDatabase: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (pgbouncerPath === undefined) {
    process.stderr.write('pgbouncer is not installed: its tests are skipped (on Debian: apt-get install pgbouncer)\n');
  }
  if (!hasPrometheus) {
    process.stderr.write(
      'prometheus is not installed: its tests are skipped (on Debian: apt-get install prometheus)\n',
    );
  }
  process.stderr.write('The pages of the console are tested by another command: npm run test:console\n');
  // A database is a copy of 900 files. In memory, copying it takes a fifth of the time.
  const removeTempDir = await replaceTempDir();
  const dataDir = await makeTempDir();
  const postgres = await startEmbeddedPostgres({
    dataDir,
    stateDir: join(dataDir, 'state'),
    settings: SETTINGS,
    log: quietLog,
  });
  const admin = new pg.Client({ connectionString: postgres.superuserUrl });
  await admin.connect();
  await admin.query(`create database ${TEMPLATE} owner ${new URL(postgres.url).username}`);
  const template = new URL(postgres.url);
  template.pathname = `/${TEMPLATE}`;
  await applyMigrations({ connectionString: template.href, log: quietLog });
  await admin.query(`alter database ${TEMPLATE} with is_template true allow_connections false`);
  await admin.end();
  project.provide('postgresUrl', postgres.superuserUrl);
  project.provide('roleUrl', postgres.url);
  project.provide('templateDatabase', TEMPLATE);
  return async () => {
    await postgres.stop();
    await removeTempDir();
  };
}
