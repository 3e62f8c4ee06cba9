/** Starts and stops one PostgreSQL server process (the postmaster) on an existing cluster. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Account, cleanEnvironment, commandFor } from './account.ts';
import { EmbeddedPostgresError, messageOf } from './errors.ts';
import type { Log } from './log.ts';
import { stopOrphan } from './orphan.ts';
import { readPidFile } from './pid-file.ts';
import type { ServerLog } from './server-log.ts';

/** PostgreSQL's settings by name, as in postgresql.conf. */
export type Settings = Readonly<Record<string, string>>;

export type PostmasterOptions = {
  program: string;
  clusterDir: string;
  account: Account;
  /** Overrides the default settings. */
  settings: Settings;
  serverLog: ServerLog;
  log: Log;
  /** The port to listen on; undefined means any free port. */
  port: number | undefined;
};

/** A running PostgreSQL server. When it ends, `exited` resolves with a description of how it ended. */
export type Postmaster = { port: number; exited: Promise<string>; stop(): Promise<void> };

type SpawnedPostmaster = Postmaster & { pid: number | undefined };

/**
 * Passed on the command line at every start, so that they also apply to existing clusters. The log omits statements and
 * error details, which can contain personal data.
 */
const defaultSettings: Settings = {
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
};

const RETRY_FOR_MS = 10_000;
const RETRY_AFTER_MS = 200;
/** Another program took the port first, or processes of a killed PostgreSQL server have not ended yet. */
const transientFailure =
  /Address already in use|could not create any TCP\/IP sockets|shared memory block .* still in use/;

const POLL_MS = 4;
const REPORT_EVERY_MS = 5_000;

const shutdowns = [
  { signal: 'SIGINT', timeoutMs: 20_000 },
  { signal: 'SIGQUIT', timeoutMs: 15_000 },
] as const;

/**
 * Starts PostgreSQL and resolves when it accepts connections. PostgreSQL runs in its own process group, so Ctrl-C does
 * not reach it. It keeps running if this process is killed.
 *
 * @throws EmbeddedPostgresError with the end of PostgreSQL's log
 */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const { clusterDir, serverLog, log } = options;
  const deadline = performance.now() + RETRY_FOR_MS;
  for (;;) {
    const stalePid = await stopOrphan(clusterDir, log);
    const offset = await serverLog.size();
    const postmaster = await spawnPostmaster(options, options.port ?? (await findFreePort()), stalePid);
    const failure = await waitUntilReady(postmaster, clusterDir, log);
    if (failure === undefined) return postmaster;
    const detail = (await serverLog.tail(offset)) || failure;
    if (!transientFailure.test(detail) || performance.now() > deadline) {
      throw new EmbeddedPostgresError('The embedded PostgreSQL did not start', { detail });
    }
    await sleep(RETRY_AFTER_MS);
  }
}

/** Finds a free port. Another program can take it before PostgreSQL does. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address === 'object' && address !== null) return address.port;
  throw new EmbeddedPostgresError('There is no free port for the embedded PostgreSQL');
}

async function spawnPostmaster(
  options: PostmasterOptions,
  port: number,
  stalePid: number | undefined,
): Promise<SpawnedPostmaster> {
  const { account, program, clusterDir, log } = options;
  const settings = { ...defaultSettings, ...options.settings, port: String(port) };
  const settingArgs = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const { command, args, identity } = commandFor(account, program, ['-D', clusterDir, ...settingArgs]);
  const output = await options.serverLog.openForChild();
  try {
    const child = spawn(command, args, {
      ...identity,
      cwd: '/',
      env: { ...cleanEnvironment, ...ignoreStalePid(stalePid) },
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
    });
    const exited = describeExit(child);
    child.unref();
    return { port, pid: child.pid, exited, stop: () => stop(child, exited, log) };
  } finally {
    await output.close();
  }
}

/**
 * PostgreSQL refuses to start if any process has the id that a stale `postmaster.pid` contains, even if that process is
 * another program. PostgreSQL ignores the id in PG_GRANDPARENT_PID, which pg_ctl sets to the id of its own parent. The
 * file itself is not removed, because PostgreSQL uses it to check whether old processes still use its shared memory.
 */
function ignoreStalePid(stalePid: number | undefined): Record<string, string> {
  return stalePid === undefined ? {} : { PG_GRANDPARENT_PID: String(stalePid) };
}

function describeExit(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(messageOf(error)));
    child.once('exit', (code, signal) => resolve(signal === null ? `ended with code ${code}` : `ended by ${signal}`));
  });
}

/** Tries a fast shutdown, which rolls back open transactions, then an immediate one, then SIGKILL. Never rejects. */
async function stop(child: ChildProcess, exited: Promise<string>, log: Log): Promise<void> {
  child.ref();
  for (const { signal, timeoutMs } of shutdowns) {
    child.kill(signal);
    if (await settlesWithin(timeoutMs, exited)) return;
    log.warn({ signal }, 'The embedded PostgreSQL did not stop in time, sending a stronger signal');
  }
  child.kill('SIGKILL');
  await exited;
}

async function settlesWithin(timeoutMs: number, promise: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const timeout = sleep(timeoutMs, false, { signal: timer.signal }).catch(() => false);
  const isSettled = await Promise.race([promise.then(() => true), timeout]);
  timer.abort();
  return isSettled;
}

/**
 * Returns undefined when PostgreSQL is ready, or a description of how it ended. There is no timeout, because recovery
 * can take a long time.
 */
async function waitUntilReady(
  postmaster: SpawnedPostmaster,
  clusterDir: string,
  log: Log,
): Promise<string | undefined> {
  let failure: string | undefined;
  postmaster.exited.then((reason) => {
    failure = reason;
  });
  let reportAt = performance.now() + REPORT_EVERY_MS;
  while (failure === undefined) {
    const found = await readPidFile(clusterDir);
    if (found?.isReady && found.pid === postmaster.pid) return undefined;
    if (performance.now() > reportAt) {
      log.info({}, 'Waiting for the embedded PostgreSQL to recover from a crash');
      reportAt += REPORT_EVERY_MS;
    }
    await sleep(POLL_MS);
  }
  return failure;
}
