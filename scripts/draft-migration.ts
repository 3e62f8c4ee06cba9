/**
 * Prints the SQL that turns the committed Prisma schema into the one in the working tree. It is the draft of a
 * migration: add by hand what a Prisma schema cannot express. With `--from-empty` it starts from an empty database.
 *
 *   npm run draft-migration [-- --from-empty]
 *
 * Prisma's schema engine runs as WebAssembly here, so this downloads nothing and needs no database.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { bindMigrationAwareSqlAdapterFactory, type SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import { type DiffTarget, SchemaEngine } from '@prisma/schema-engine-wasm';

const SCHEMA_PATH = 'prisma/schema.prisma';

const { stdout } = await diff();
process.stdout.write(stdout ?? '');

async function diff() {
  const after = readFileSync(SCHEMA_PATH, 'utf8');
  const from: DiffTarget = process.argv.includes('--from-empty') ? { tag: 'empty' } : toTarget(readCommittedSchema());
  const engine = await SchemaEngine.new({ datamodels: [[SCHEMA_PATH, after]] }, () => {}, createAdapter());
  const filters = { externalTables: [], externalEnums: [] };
  return engine.diff({ from, to: toTarget(after), script: true, exitCode: null, filters });
}

function readCommittedSchema(): string {
  return execFileSync('git', ['show', `HEAD:${SCHEMA_PATH}`], { encoding: 'utf8' });
}

function toTarget(content: string): DiffTarget {
  return { tag: 'schemaDatamodel', files: [{ path: SCHEMA_PATH, content }] };
}

/** Stands in for a database, because the engine queries its version even when it only compares two schema files. */
function createAdapter() {
  const connection = {
    provider: 'postgres',
    adapterName: 'none',
    queryRaw: async () => ({
      columnNames: ['exists', 'version', 'numeric_version'],
      columnTypes: [5, 7, 0],
      rows: [[true, 'PostgreSQL 18.4', 180004]],
    }),
    executeRaw: async () => 0,
    executeScript: async () => {},
    startTransaction: async () => {
      throw new Error('There is no database to start a transaction on');
    },
    getConnectionInfo: () => ({ schemaName: 'public', supportsRelationJoins: true }),
    dispose: async () => {},
  } satisfies SqlDriverAdapter;
  return bindMigrationAwareSqlAdapterFactory({
    provider: 'postgres',
    adapterName: 'none',
    connect: async () => connection,
    connectToShadowDb: async () => connection,
  });
}
