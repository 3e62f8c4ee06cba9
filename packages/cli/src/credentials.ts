/** The credential that `lynxroom login` stores. */
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliError, type Context } from './command.ts';

export type Credentials = {
  /** Base URL of the service. */
  url: string;
  /** A session token or an API key. */
  token: string;
  /** The ID of the workspace that commands use if none is given. */
  workspace: number;
};

/** The permission bits of everyone but the file's owner. */
const OTHERS = 0o077;

/** The path in the configuration directory of the user (XDG Base Directory Specification). */
export function credentialsPath(env: Context['env']): string {
  const { XDG_CONFIG_HOME: config } = env;
  // As the specification requires, a relative path is ignored.
  const directory = config?.startsWith('/') ? config : join(env.HOME ?? homedir(), '.config');
  return join(directory, 'lynxroom', 'credentials.json');
}

/** Reads the file. Returns null if there is none. Warns if others can read it. */
export async function readCredentials({ env, note }: Pick<Context, 'env' | 'note'>): Promise<Credentials | null> {
  const path = credentialsPath(env);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw new CliError(`${path} cannot be read: ${error.code}`);
  });
  if (text === null) return null;
  if (((await stat(path)).mode & OTHERS) !== 0) note(`Warning: others can read ${path}. Run: chmod 600 ${path}`);
  const stored = parse(text);
  if (stored === null) throw new CliError(`${path} is damaged: sign in again with lynxroom login`);
  return stored;
}

function parse(text: string): Credentials | null {
  try {
    const { url, token, workspace } = JSON.parse(text);
    const isValid = typeof url === 'string' && typeof token === 'string' && Number.isInteger(workspace);
    return isValid ? { url, token, workspace } : null;
  } catch {
    return null;
  }
}

/** Replaces the file. It is never readable by anyone but its owner, even while it is being replaced. */
export async function writeCredentials(env: Context['env'], credentials: Credentials): Promise<string> {
  const path = credentialsPath(env);
  const staged = `${path}.${process.pid}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await writeFile(staged, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await rename(staged, path);
  } finally {
    await rm(staged, { force: true });
  }
  return path;
}

/** Removes the file, if there is one. */
export async function removeCredentials(env: Context['env']): Promise<void> {
  await rm(credentialsPath(env), { force: true });
}
