/**
 * Prints the SQL that leads from the committed Prisma schema to the one in the working tree (from nothing, with
 * `--from-empty`): the draft of a migration, to be completed by hand with what Prisma cannot say.
 *
 *   npm run draft-migration [-- --from-empty]
 *
 * The schema engine runs as WebAssembly, so nothing is downloaded and no database is needed.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as engine from '@prisma/schema-engine-wasm/schema_engine_bg';

const path = 'prisma/schema.prisma';
function schema(content) {
  return { tag: 'schemaDatamodel', files: [{ path, content }] };
}

const binary = readFileSync(
  new URL(import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg').replace(/_bg\.js$/, '_bg.wasm')),
);
const { instance } = await WebAssembly.instantiate(binary, { './schema_engine_bg.js': engine });
engine.__wbg_set_wasm(instance.exports);
instance.exports.__wbindgen_start();

const after = readFileSync(path, 'utf8');
const from = process.argv.includes('--from-empty')
  ? { tag: 'empty' }
  : schema(execFileSync('git', ['show', `HEAD:${path}`], { encoding: 'utf8' }));
// The engine asks its database who it is even when it compares two files: this one answers, and holds nothing.
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
  startTransaction: async () => connection,
  getConnectionInfo: () => ({ schemaName: 'public', supportsRelationJoins: true }),
  dispose: async () => {},
};
const adapter = bindMigrationAwareSqlAdapterFactory({
  provider: 'postgres',
  adapterName: 'none',
  connect: async () => connection,
  connectToShadowDb: async () => connection,
});
const { SchemaEngine } = engine;
const schemaEngine = await SchemaEngine.new({ datamodels: [[path, after]] }, () => {}, adapter);
const { stdout } = await schemaEngine.diff({
  from,
  to: schema(after),
  script: true,
  exitCode: null,
  filters: { externalTables: [], externalEnums: [] },
});
process.stdout.write(stdout ?? '');
