/** `lynxroom backup` and `lynxroom restore`. */
import { type Context, toSize } from '@lynxroom/cli';
import { checkBackup } from '../backup/check-backup.ts';
import type { Manifest } from '../backup/manifest.ts';
import { restoreBackup } from '../backup/restore-backup.ts';
import { writeBackup } from '../backup/write-backup.ts';
import { createLog, filesRootOf, readSettings, withDatabase, withOwnPostgres } from './settings.ts';
import { createSteps } from './steps.ts';
import { requireOwnBucket } from './store-checks.ts';

export async function backup(context: Context): Promise<undefined> {
  const config = readSettings(context);
  const log = createLog(context);
  const [to = ''] = context.args;
  const steps = createSteps(context);
  const manifest = await withDatabase(config, log, (connectionString) =>
    writeBackup({
      connectionString,
      filesRoot: filesRootOf(config),
      to,
      log,
      signal: context.signal,
      onStep: steps.show,
    }),
  ).finally(steps.clear);
  for (const key of manifest.missing_files) context.note(`Warning: the file ${key} is missing from the store`);
  if (!context.isJson)
    context.note('The backup does not contain ENCRYPTION_KEY (or DATA_DIR/encryption-key): keep a copy of the key');
  context.print({ directory: to, ...summarize(manifest) }, `Wrote ${to}: ${describe(manifest)}`);
  return undefined;
}

export async function restore(context: Context): Promise<undefined> {
  const config = readSettings(context);
  const log = createLog(context);
  const [from = ''] = context.args;
  const steps = createSteps(context);
  const options = {
    from,
    filesRoot: filesRootOf(config),
    replace: context.flag('replace'),
    log,
    signal: context.signal,
    onStep: steps.show,
  };
  const external = config.DATABASE_DIRECT_URL ?? config.DATABASE_URL;
  try {
    // Checked before the database starts, so that a damaged backup leaves nothing behind.
    steps.show('Checking the backup');
    const manifest = await checkBackup(from, context.signal);
    const run = async (connectionString: string) => {
      await requireOwnBucket(config, connectionString, log);
      await restoreBackup({ ...options, connectionString }, manifest);
    };
    await (external === undefined ? withOwnPostgres(config, log, run) : run(external));
    steps.clear();
    report(context, from, manifest);
  } finally {
    steps.clear();
  }
  return undefined;
}

function report(context: Context, from: string, manifest: Manifest): void {
  if (manifest.store?.startsWith('s3:')) context.note(`The files are not in the backup, but in ${manifest.store}`);
  context.print({ directory: from, ...summarize(manifest) }, `Restored ${from}: ${describe(manifest)}`);
}

function summarize({ created_at, tables, files, missing_files }: Manifest) {
  const rows = tables.reduce((total, table) => total + table.rows, 0);
  return { created_at, tables: tables.length, rows, files, missing_files };
}

function describe(manifest: Manifest): string {
  const { created_at: at, rows, tables, files } = summarize(manifest);
  const stored =
    files === null
      ? 'no files (the files are in S3)'
      : `${files.count} ${files.count === 1 ? 'file' : 'files'} (${toSize(files.bytes)})`;
  return `${rows} rows of ${tables} tables, and ${stored}, as of ${at}`;
}
