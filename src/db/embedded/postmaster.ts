import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../core/log.ts';
import { EmbeddedPostgresError, messageOf } from './errors.ts';
import { readPidFile, stopOrphan } from './orphan.ts';
import { type Account, cleanEnvironment, commandFor } from './run-as.ts';
import type { ServerLog } from './server-log.ts';

/** A running PostgreSQL. `exited` resolves, with the reason in words, however it ends. */
export type Postmaster = { port: number; exited: Promise<string>; stop(): Promise<void> };

export type PostmasterOptions = {
  program: string;
  clusterDir: string;
  account: Account;
  serverLog: ServerLog;
  log: Log;
  /** The port to listen on; any free one when undefined. */
  port: number | undefined;
};

/**
 * Given at every start, so that what is written here holds for clusters of every age.
 * The log leaves out statements and the details of errors, which would carry people's data.
 */
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '128MB',
  jit: 'off',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  password_encryption: 'scram-sha-256',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_checkpoints: 'off',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  cluster_name: 'lynxroom',
};

const RETRY_FOR_MS = 10_000;
const RETRY_AFTER_MS = 200;
/** Another program took the free port first; or what is left of a killed PostgreSQL has not ended yet. */
const passes = /Address already in use|could not create any TCP\/IP sockets|shared memory block .* still in use/;

type Launched = Postmaster & { pid: number | undefined };

const POLL_MS = 4;
const REPORT_AFTER_MS = 5_000;

const FAST_SHUTDOWN_MS = 20_000;
const IMMEDIATE_SHUTDOWN_MS = 15_000;

/**
 * Starts PostgreSQL on an existing cluster and resolves when it takes connections. It runs in a process group of its own, so
 * that Ctrl-C does not reach it, and keeps running when we are killed.
 * @throws EmbeddedPostgresError with the end of PostgreSQL's log
 */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const deadline = performance.now() + RETRY_FOR_MS;
  for (;;) {
    const stalePid = await stopOrphan(options.clusterDir, options.log);
    const offset = await options.serverLog.size();
    const postmaster = await launch(options, options.port ?? (await findFreePort()), stalePid);
    const exit = await waitUntilReady(postmaster, options);
    if (exit === undefined) return postmaster;
    const detail = (await options.serverLog.tail(offset)) || exit;
    if (!passes.test(detail) || performance.now() > deadline) {
      throw new EmbeddedPostgresError('The embedded PostgreSQL did not start', { detail });
    }
    await sleep(RETRY_AFTER_MS);
  }
}

async function launch(options: PostmasterOptions, port: number, stalePid: number | undefined): Promise<Launched> {
  const flags = Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const output = await options.serverLog.openForChild();
  try {
    const { command, args, identity } = commandFor(options.account, options.program, [
      '-D',
      options.clusterDir,
      ...flags,
    ]);
    const child = spawn(command, args, {
      ...identity,
      cwd: '/',
      env: { ...cleanEnvironment, ...disown(stalePid) },
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
    });
    const exited = describeExit(child);
    child.unref();
    return { port, pid: child.pid, exited, stop: () => stop(child, exited, options.log) };
  } finally {
    await output.close();
  }
}

/**
 * PostgreSQL refuses to start while the process of a stale `postmaster.pid` lives, even if that is by now a stranger with
 * the same id. This variable (pg_ctl's way to name its own parent) says that the process is none; removing the file would do too, but
 * would also remove the record by which PostgreSQL sees that backends of the old server still use its shared memory.
 */
function disown(stalePid: number | undefined): Record<string, string> {
  return stalePid === undefined ? {} : { PG_GRANDPARENT_PID: String(stalePid) };
}

function describeExit(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(messageOf(error)));
    child.once('exit', (code, signal) => resolve(signal === null ? `ended with code ${code}` : `ended by ${signal}`));
  });
}

/** Fast shutdown (open transactions are rolled back), then an immediate one, then by force; never an error. */
async function stop(child: ChildProcess, exited: Promise<string>, log: Log): Promise<void> {
  child.ref();
  for (const [signal, timeouts] of [
    ['SIGINT', FAST_SHUTDOWN_MS] as const,
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS] as const,
  ]) {
    child.kill(signal);
    const timer = new AbortController();
    const late = sleep(timeouts, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const);
    const first = await Promise.race([exited.then(() => 'exited' as const), late]);
    timer.abort();
    if (first === 'exited') return;
    log.warn({ signal }, 'The embedded PostgreSQL does not stop, using more force');
  }
  child.kill('SIGKILL');
  await exited;
}

/** A port that was free a moment ago; somebody may take it before PostgreSQL does. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address === 'object' && address !== null) return address.port;
  throw new EmbeddedPostgresError('There is no free port for the embedded PostgreSQL');
}

/** @returns undefined when it is ready, the reason when it has ended. Recovery after a crash may take its time. */
async function waitUntilReady(
  postmaster: Launched,
  { clusterDir, log }: PostmasterOptions,
): Promise<string | undefined> {
  let exit: string | undefined;
  postmaster.exited.then((reason) => {
    exit = reason;
  });
  let reportAt = performance.now() + REPORT_AFTER_MS;
  while (exit === undefined) {
    const found = await readPidFile(clusterDir);
    if (found?.isReady && found.pid === postmaster.pid) return undefined;
    if (performance.now() > reportAt) {
      log.info({}, 'Waiting for the embedded PostgreSQL, which is recovering from a crash');
      reportAt += REPORT_AFTER_MS;
    }
    await sleep(POLL_MS);
  }
  return exit;
}
