import type { Log } from '../core/log.ts';

export type RestoreOptions = {
  /** The directory of the backup. */
  from: string;
  /** Must not connect to a pooler in transaction mode. */
  connectionString: string;
  /** The directory of the disk store; null if the service uses S3. */
  filesRoot: string | null;
  /** Whether to replace an existing database and existing files. */
  replace: boolean;
  log: Log;
  signal: AbortSignal;
  onStep: (step: string) => void | Promise<void>;
};
