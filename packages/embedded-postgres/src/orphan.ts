/** Stops a PostgreSQL process that outlived the server that started it. */
import { execFile } from 'node:child_process';
import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError, hasCode, messageOf } from './errors.ts';
import type { Log } from './log.ts';
import { pidFilePath, readPidFile } from './pid-file.ts';

const POLL_MS = 5;
const WRITE_MS = 300;
const shutdowns = [
  { signal: 'SIGINT', timeoutMs: 20_000 },
  { signal: 'SIGQUIT', timeoutMs: 15_000 },
] as const;

/**
 * Stops the PostgreSQL process of this cluster if a killed server left it running: first with a fast shutdown, then
 * with an immediate one. It is not reused, because stopping it takes only about 20 ms, and a new process is a child of
 * this server and has the current settings. The caller holds the data directory's lock, so no other server can own the
 * process.
 *
 * @returns the process id in `postmaster.pid`, which is now stale, for `startPostmaster`; undefined if there is none
 * @throws EmbeddedPostgresError if the process does not stop
 */
export async function stopOrphan(clusterDir: string, log: Log): Promise<number | undefined> {
  const found = await readPidFile(clusterDir);
  if (found === undefined) {
    await removeEmptyPidFile(clusterDir);
    return undefined;
  }
  const { pid } = found;
  if (!(await isPostmasterOf(pid, clusterDir))) return pid;
  log.warn({ pid }, 'Stopping the PostgreSQL process that a killed server left running');
  for (const { signal, timeoutMs } of shutdowns) {
    signalProcess(pid, signal);
    if (await endsWithin(timeoutMs, pid, clusterDir)) return pid;
  }
  throw new EmbeddedPostgresError(`Failed to stop PostgreSQL process ${pid}, which an earlier server left running`);
}

/**
 * A power failure can leave `postmaster.pid` empty, and PostgreSQL does not start if it is empty. When PostgreSQL
 * starts, it also creates the file empty, but fills it at once. Only a file that stays empty is therefore removed.
 */
async function removeEmptyPidFile(clusterDir: string): Promise<void> {
  const path = pidFilePath(clusterDir);
  if (!(await isEmpty(path))) return;
  await sleep(WRITE_MS);
  if (await isEmpty(path)) await rm(path, { force: true });
}

function isEmpty(path: string): Promise<boolean> {
  return readFile(path, 'utf8').then(
    (text) => text.trim() === '',
    () => false,
  );
}

/**
 * Whether a process is the PostgreSQL server of this cluster. The system reuses process ids, so the id may belong to
 * another program by now. On Linux, two links in `/proc` are checked: the program must be `postgres`, and its working
 * directory must be the cluster's directory. A zombie process does not have these links. On other systems, and if the
 * links cannot be read (root in a container may not read those of another user), the command line is checked instead.
 */
async function isPostmasterOf(pid: number, clusterDir: string): Promise<boolean> {
  if (process.platform !== 'linux') return isPostmasterCommand((await readCommand(pid)).split(' '), clusterDir);
  try {
    const [program, directory] = await Promise.all([readlink(`/proc/${pid}/exe`), readlink(`/proc/${pid}/cwd`)]);
    // The kernel appends " (deleted)" if an installation has replaced the program.
    return /^postgres( \(deleted\))?$/.test(basename(program)) && directory === (await realpath(clusterDir));
  } catch (error) {
    if (!hasCode(error, 'EACCES')) return false;
  }
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return isPostmasterCommand(command.split('\0'), clusterDir);
}

function isPostmasterCommand(args: readonly string[], clusterDir: string): boolean {
  return basename(args[0] ?? '') === 'postgres' && args.join(' ').includes(`-D ${clusterDir} `);
}

function readCommand(pid: number): Promise<string> {
  return new Promise((resolve) => {
    execFile('ps', ['-ww', '-o', 'command=', '-p', String(pid)], (error, stdout) =>
      resolve(error ? '' : stdout.trim()),
    );
  });
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (cause) {
    if (hasCode(cause, 'ESRCH')) return;
    throw new EmbeddedPostgresError(`Failed to stop PostgreSQL process ${pid}, which an earlier server left running`, {
      detail: messageOf(cause),
      cause,
    });
  }
}

async function endsWithin(timeoutMs: number, pid: number, clusterDir: string): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    if (!(await isPostmasterOf(pid, clusterDir))) return true;
    await sleep(POLL_MS);
  }
  return false;
}
