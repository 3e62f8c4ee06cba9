/** Chooses the account that PostgreSQL runs under, and runs programs under it. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { EmbeddedPostgresError, joinLastLines, messageOf } from './errors.ts';

/**
 * `self`: the user of this process. `user`: a user that root switches to. `namespace`: the user of this process, mapped
 * to another user id in a user namespace.
 */
export type Account = { kind: 'self' } | { kind: 'user'; uid: number; gid: number } | { kind: 'namespace' };

/**
 * The environment of PostgreSQL's programs. Inherited variables such as PGOPTIONS or PGDATA would change what they do.
 */
export const cleanEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

type User = { uid: number; gid: number };

const NOBODY: User = { uid: 65534, gid: 65534 };

/**
 * Chooses the account for a new cluster. PostgreSQL refuses to run as root, so root runs it as the user `postgres` if
 * there is one, else as `nobody`. No user has to be created. A user namespace is used in sandboxes where root is the
 * only user, and for users without a name, which initdb does not accept.
 *
 * @throws EmbeddedPostgresError if this process is root and cannot switch to another user
 */
export function chooseAccount(): Account {
  if (!isRoot()) return hasName() || !canRunAs({ kind: 'namespace' }) ? { kind: 'self' } : { kind: 'namespace' };
  const user = { kind: 'user' as const, ...findUser() };
  if (canRunAs(user)) return user;
  if (canRunAs({ kind: 'namespace' })) return { kind: 'namespace' };
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and root cannot switch to user id ${user.uid} here: ` +
      'run the server as another user',
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

function canRunAs(account: Account): boolean {
  return succeeds('/bin/sh', ['-c', 'exit 0'], account);
}

function findUser(): User {
  const passwd = readPasswd();
  return findInPasswd(passwd, 'postgres') ?? findInPasswd(passwd, 'nobody') ?? NOBODY;
}

function readPasswd(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}

function findInPasswd(passwd: string, name: string): User | undefined {
  const entry = passwd.split('\n').find((line) => line.startsWith(`${name}:`));
  const fields = entry?.split(':') ?? [];
  const uid = Number(fields[2]);
  const gid = Number(fields[3]);
  return Number.isInteger(uid) && Number.isInteger(gid) && uid > 0 && gid >= 0 ? { uid, gid } : undefined;
}

/**
 * Returns the account that owns an existing cluster.
 *
 * @throws EmbeddedPostgresError if the user of this process cannot run programs as the owner
 */
export function accountOfOwner(clusterDir: string, owner: User): Account {
  if (isRoot()) return owner.uid === 0 ? { kind: 'namespace' } : { kind: 'user', uid: owner.uid, gid: owner.gid };
  if (owner.uid === process.getuid?.()) return { kind: 'self' };
  throw new EmbeddedPostgresError(
    `The database in ${clusterDir} belongs to user id ${owner.uid}: ` +
      'run the server as that user or as root, or use another data directory',
  );
}

/** Returns the command that runs a program under an account. The program runs under the command's process id. */
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

/** Whether an account can enter a directory and all directories above it. Checks by entering it. */
export function canEnter(directory: string, account: Account): boolean {
  return account.kind !== 'user' || succeeds('/bin/sh', ['-c', 'cd -- "$1"', 'sh', directory], account);
}

/** Runs a program under an account and returns whether it succeeds. */
export function succeeds(program: string, args: readonly string[], account: Account): boolean {
  const spawned = commandFor(account, program, args);
  const options = { ...spawned.identity, cwd: '/', env: cleanEnvironment, stdio: 'ignore' as const };
  return spawnSync(spawned.command, spawned.args, options).status === 0;
}

/**
 * Runs one of PostgreSQL's programs until it ends.
 *
 * @throws EmbeddedPostgresError with `failure` and the end of the output if the program does not start or fails
 */
export function runTool(
  program: string,
  toolArgs: readonly string[],
  options: { account: Account; input?: string; failure: string },
): Promise<void> {
  const { account, input = '', failure } = options;
  return new Promise((resolve, reject) => {
    const { command, args, identity } = commandFor(account, program, toolArgs);
    const child = spawn(command, args, { ...identity, cwd: '/', env: cleanEnvironment, detached: true });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
      });
    }
    child.once('error', (cause) => reject(new EmbeddedPostgresError(failure, { detail: messageOf(cause), cause })));
    child.once('close', (code, signal) => {
      if (code === 0) return resolve();
      const detail = joinLastLines(output) || `ended with ${signal ?? `code ${code}`}`;
      reject(new EmbeddedPostgresError(failure, { detail }));
    });
    // Ignored: a program may end before it has read all of its input, and its exit code says whether it succeeded.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
