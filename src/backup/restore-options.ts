import type { Log } from '../core/log.ts';

export type RestoreOptions = {
  /** The directory of the backup. */
  from: string;
  /** Must not connect to a pooler in transaction mode. */
  connectionString: string;
  /** The directory of the disk store; null if the service uses S3. */
  filesRoot: string | null;
  /** Whether to replace a database and files that exist. */
  replace: boolean;
  log: Log;
  signal: AbortSignal;
  onStep: (step: string) => void | Promise<void>;
};
