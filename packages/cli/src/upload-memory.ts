/** Remembers the uploads that are under way, so that the same command continues them. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { UploadMemory } from '../../client/src/index.ts';
import type { Context } from './command.ts';

/** One file for each upload, in the state directory of the user (XDG Base Directory Specification). */
export function openUploadMemory(env: Context['env']): UploadMemory {
  const { XDG_STATE_HOME: state } = env;
  const base = state?.startsWith('/') ? state : join(env.HOME ?? homedir(), '.local', 'state');
  const directory = join(base, 'lynxroom', 'uploads');
  const pathOf = (key: string): string => join(directory, createHash('sha256').update(key).digest('hex'));
  return {
    get: (key) => readFile(pathOf(key), 'utf8').catch(() => null),
    async set(key, url) {
      // Without it, an upload still continues after a broken connection.
      await mkdir(directory, { recursive: true, mode: 0o700 }).catch(() => {});
      await writeFile(pathOf(key), url, { mode: 0o600 }).catch(() => {});
    },
    delete: (key) => rm(pathOf(key), { force: true }),
  };
}
