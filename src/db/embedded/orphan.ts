import { execFile } from 'node:child_process';
import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../core/log.ts';
import { EmbeddedPostgresError, messageOf } from './errors.ts';

/** What a running PostgreSQL writes about itself (`postmaster.pid`). */
export type PidFile = { pid: number; isReady: boolean };

const STATUS_LINE = 7;

const FAST_MS = 20_000;
const IMMEDIATE_MS = 15_000;

/** Reads `postmaster.pid`; undefined when there is none, or one without a process id. */
export async function readPidFile(clusterDir: string): Promise<PidFile | undefined> {
  const lines = (await readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10));
  return Number.isInteger(pid) && pid > 0 ? { pid, isReady: lines[STATUS_LINE]?.trim() === 'ready' } : undefined;
}

/**
 * Stops the PostgreSQL of this cluster that a killed server has left running, fast first and by force after 20 s. It is
 * stopped and not adopted: that costs some 20 ms, and afterwards every PostgreSQL is our own child with today's settings.
 * The caller holds the data folder's lock, so it can belong to nobody else.
 * @returns the process id in a stale `postmaster.pid`, which PostgreSQL is to be told is not its twin (see `startPostmaster`)
 */
export async function stopOrphan(clusterDir: string, log: Log): Promise<number | undefined> {
  const found = await readPidFile(clusterDir);
  if (found === undefined) {
    await removeEmptyPidFile(clusterDir);
    return undefined;
  }
  if (!(await isPostmasterOf(found.pid, clusterDir))) return found.pid;
  log.warn({ pid: found.pid }, 'Stopping the PostgreSQL that a killed server has left running');
  for (const [signal, timeouts] of [['SIGINT', FAST_MS] as const, ['SIGQUIT', IMMEDIATE_MS] as const]) {
    signalProcess(found.pid, signal);
    if (await isGoneWithin(timeouts, found.pid, clusterDir)) return found.pid;
  }
  throw new EmbeddedPostgresError(`The PostgreSQL of an earlier start (process ${found.pid}) does not stop`);
}

/** A power cut can leave the file without content, which PostgreSQL refuses; one that is being written fills in at once. */
async function removeEmptyPidFile(clusterDir: string): Promise<void> {
  const path = join(clusterDir, 'postmaster.pid');
  const isEmpty = () =>
    readFile(path, 'utf8').then(
      (text) => text.trim() === '',
      () => false,
    );
  if (!(await isEmpty())) return;
  await sleep(300);
  if (await isEmpty()) await rm(path, { force: true });
}

/**
 * Whether the process is the PostgreSQL server of this very cluster. Process ids are used again, so it is not enough that
 * the process lives: on Linux it must run `postgres` in the cluster's folder, which PostgreSQL makes its working
 * directory. A zombie has neither. Where these links are closed to us (root in a container may not read another
 * user's), and on other systems, the command line decides.
 */
async function isPostmasterOf(pid: number, clusterDir: string): Promise<boolean> {
  if (process.platform !== 'linux') return isPostmasterCommand((await psCommand(pid)).split(' '), clusterDir);
  try {
    const [program, folder] = await Promise.all([readlink(`/proc/${pid}/exe`), readlink(`/proc/${pid}/cwd`)]);
    // The kernel appends " (deleted)" when the program was replaced by an installation.
    return /^postgres( \(deleted\))?$/.test(basename(program)) && folder === (await realpath(clusterDir));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code !== 'EACCES') return false;
  }
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return isPostmasterCommand(command.split('\0'), clusterDir);
}

function isPostmasterCommand(words: readonly string[], clusterDir: string): boolean {
  return basename(words[0] ?? '') === 'postgres' && words.join(' ').includes(`-D ${clusterDir} `);
}

function psCommand(pid: number): Promise<string> {
  return new Promise((resolve) => {
    execFile('ps', ['-ww', '-o', 'command=', '-p', String(pid)], (error, stdout) =>
      resolve(error ? '' : stdout.trim()),
    );
  });
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return;
    throw new EmbeddedPostgresError(`The PostgreSQL of an earlier start (process ${pid}) cannot be stopped`, {
      detail: messageOf(error),
      cause: error,
    });
  }
}

async function isGoneWithin(timeouts: number, pid: number, clusterDir: string): Promise<boolean> {
  const deadline = performance.now() + timeouts;
  while (performance.now() < deadline) {
    if (!(await isPostmasterOf(pid, clusterDir))) return true;
    await sleep(5);
  }
  return false;
}
