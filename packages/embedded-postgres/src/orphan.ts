/** Stops a PostgreSQL that outlived the server that started it. */
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
 * Stops the PostgreSQL of this cluster that a killed server left running, with a fast shutdown and then an immediate
 * one. It is not reused: stopping it takes about 20 ms, and the new PostgreSQL is a child process with the current
 * settings. The caller holds the data directory's lock, so no other server can own it.
 *
 * @returns the process id in a stale `postmaster.pid`, which `startPostmaster` needs
 * @throws EmbeddedPostgresError if it does not stop
 */
export async function stopOrphan(clusterDir: string, log: Log): Promise<number | undefined> {
  const found = await readPidFile(clusterDir);
  if (found === undefined) {
    await removeEmptyPidFile(clusterDir);
    return undefined;
  }
  const { pid } = found;
  if (!(await isPostmasterOf(pid, clusterDir))) return pid;
  log.warn({ pid }, 'Stopping the PostgreSQL that a killed server left running');
  for (const { signal, timeoutMs } of shutdowns) {
    signalProcess(pid, signal);
    if (await endsWithin(timeoutMs, pid, clusterDir)) return pid;
  }
  throw new EmbeddedPostgresError(`Failed to stop the PostgreSQL of an earlier server (process ${pid})`);
}

/**
 * A power failure can leave the file empty, and PostgreSQL does not start with an empty file. A starting PostgreSQL
 * also creates it empty, but fills it at once, so only a file that stays empty is removed.
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
 * Whether a process is the PostgreSQL server of this cluster. Process ids are reused, so it is not enough that the
 * process exists: on Linux it must run `postgres` in the cluster's directory, which PostgreSQL makes its working
 * directory. A zombie process has neither. If these links cannot be read (root in a container may not read those of
 * another user), and on other systems, the command line decides.
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
    throw new EmbeddedPostgresError(`Failed to stop the PostgreSQL of an earlier server (process ${pid})`, {
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
