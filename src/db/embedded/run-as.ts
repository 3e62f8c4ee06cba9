import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { EmbeddedPostgresError, lastLines, messageOf } from './errors.ts';

/**
 * Under whom PostgreSQL runs: us; a user that root becomes; or, where root cannot become anybody, us under the id of such a
 * user in a user namespace.
 */
export type Account = { kind: 'self' } | { kind: 'user'; uid: number; gid: number } | { kind: 'namespace' };

/** PostgreSQL's surroundings: nothing of ours, as variables like PGOPTIONS or PGDATA would change what it does. */
export const cleanEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

const NOBODY = { uid: 65534, gid: 65534 };

type User = { uid: number; gid: number };

/**
 * The account for a new cluster. PostgreSQL refuses to run as root, so root hands it to the machine's `postgres`, else
 * to `nobody`: both are there without creating an account. The namespace is for a sandbox in which "root" is the only user
 * there is, and for a user without a name, whom initdb does not accept.
 */
export function chooseAccount(): Account {
  if (!isRoot()) return hasName() || !works({ kind: 'namespace' }) ? { kind: 'self' } : { kind: 'namespace' };
  const user = { kind: 'user' as const, ...findUser() };
  if (works(user)) return user;
  if (works({ kind: 'namespace' })) return { kind: 'namespace' };
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and root cannot become user id ${user.uid} here: start the server as another user, or set DATABASE_URL to a PostgreSQL of your own`,
  );
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

function works(account: Account): boolean {
  return runs('/bin/sh', ['-c', 'exit 0'], account);
}

function findUser(): User {
  const passwd = readPasswd();
  return userNamed(passwd, 'postgres') ?? userNamed(passwd, 'nobody') ?? NOBODY;
}

function readPasswd(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}

function userNamed(passwd: string, name: string): User | undefined {
  const fields =
    passwd
      .split('\n')
      .find((line) => line.startsWith(`${name}:`))
      ?.split(':') ?? [];
  const uid = Number(fields[2]);
  const gid = Number(fields[3]);
  return Number.isInteger(uid) && Number.isInteger(gid) && uid > 0 && gid >= 0 ? { uid, gid } : undefined;
}

/**
 * The account for an existing cluster: the one that owns it, whoever starts the server.
 * @throws EmbeddedPostgresError when this user cannot act for the owner
 */
export function accountOfOwner(clusterDir: string, owner: User): Account {
  if (isRoot()) return owner.uid === 0 ? { kind: 'namespace' } : { kind: 'user', uid: owner.uid, gid: owner.gid };
  if (owner.uid === process.getuid?.()) return { kind: 'self' };
  throw new EmbeddedPostgresError(
    `The database in ${clusterDir} belongs to user id ${owner.uid}: start the server as that user or as root, or choose another DATA_DIR`,
  );
}

/** What to spawn so that a program runs under the account. Its process id is that of the program in every case. */
export function commandFor(
  account: Account,
  program: string,
  args: readonly string[],
): { command: string; args: readonly string[]; identity: Partial<User> } {
  if (account.kind === 'self') return { command: program, args, identity: {} };
  if (account.kind === 'user') return { command: program, args, identity: { uid: account.uid, gid: account.gid } };
  const { uid, gid } = findUser();
  const mapping = ['--user', `--map-user=${uid}`, `--map-group=${gid}`, '--'];
  return { command: 'unshare', args: [...mapping, program, ...args], identity: {} };
}

/** Whether the account can enter a folder through all the folders above it; asked of the system, not worked out. */
export function canEnter(folder: string, account: Account): boolean {
  return account.kind !== 'user' || runs('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], account);
}

/** Whether a program runs under the account and succeeds. */
export function runs(program: string, args: readonly string[], account: Account): boolean {
  const spawned = commandFor(account, program, args);
  const options = { ...spawned.identity, cwd: '/', env: cleanEnvironment, stdio: 'ignore' as const };
  return spawnSync(spawned.command, spawned.args, options).status === 0;
}

/**
 * Runs one of PostgreSQL's programs to its end.
 * @returns what it printed on both streams
 * @throws EmbeddedPostgresError when it cannot be started or fails, with the end of its output
 */
export function runTool(
  program: string,
  args: readonly string[],
  options: { account: Account; input?: string; failure: string },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const { command, args: words, identity } = commandFor(options.account, program, args);
    const child = spawn(command, words, { ...identity, cwd: '/', env: cleanEnvironment, detached: true });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    child.once('error', (cause) =>
      reject(new EmbeddedPostgresError(options.failure, { detail: messageOf(cause), cause })),
    );
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(output);
      const detail = lastLines(output) || `ended with ${signal ?? `code ${code}`}`;
      reject(new EmbeddedPostgresError(options.failure, { detail }));
    });
    // A program that ends before it has read everything is judged by its exit code, not by the broken pipe.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}
