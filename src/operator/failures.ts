/** Converts errors of the service's modules to messages and exit codes of the command line. */
import { describeFailure, ExitCode, type Failure } from '@lynxroom/cli';
import { BackupError } from '../backup/manifest.ts';
import { describeError, UnsuitableDatabaseError } from '../db/connect.ts';
import { DataDirInUseError, EmbeddedPostgresError } from '../db/embedded.ts';
import { isDatabaseError } from '../db/errors.ts';
import { MigrationError } from '../db/migrate.ts';
import { OtherStoreError } from '../storage/store-id.ts';

const explained = [BackupError, EmbeddedPostgresError, MigrationError, OtherStoreError, UnsuitableDatabaseError];

export function explainFailure(error: unknown): Failure {
  if (error instanceof DataDirInUseError)
    return { message: `${error.message}: stop it first`, exitCode: ExitCode.failed };
  if (error instanceof Error && explained.some((kind) => error instanceof kind))
    return { message: error.message, exitCode: ExitCode.failed };
  if (isDatabaseError(error))
    return { message: `The database returned an error: ${describeError(error)}`, exitCode: ExitCode.failed };
  return describeFailure(error);
}
