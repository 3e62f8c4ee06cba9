/** Lets only one process at a time do some work on this checkout. It uses only Node's own modules. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Removing a stale lock takes a moment. A process that needs longer was killed meanwhile. */
const REMOVAL_MS = 10_000;

/**
 * Runs `work` while no other process runs work with the same name on this checkout. Only a lock whose process has ended
 * is taken over. A lock never expires, because the work may take any time.
 *
 * @template Result
 * @param {string} name
 * @param {string} root
 * @param {() => Promise<Result>} work
 */
export async function withLock(name, root, work) {
  const path = lockPath(name, root);
  for (let isReported = false; !tryLock(path); isReported = true) {
    if (!isReported) process.stdout.write(`Waiting for another ${name} of this checkout …\n`);
    await sleep(250);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

/**
 * @param {string} name
 * @param {string} root
 */
function lockPath(name, root) {
  const key = createHash('sha256').update(root).digest('hex').slice(0, 16);
  return join(tmpdir(), `lynxroom-${name}-${process.getuid?.() ?? 0}-${key}.lock`);
}

/** @param {string} path */
function tryLock(path) {
  removeStaleLock(path);
  // The lock appears together with its content.
  const own = `${path}.${process.pid}`;
  writeFileSync(own, `${process.pid} ${startOf(process.pid)}`);
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/**
 * Removes a lock whose process has ended, one process at a time: otherwise a process could delete the new lock of one
 * that has just removed the old lock.
 *
 * @param {string} path
 */
function removeStaleLock(path) {
  if (!isStale(path)) return;
  const guard = `${path}.removal`;
  try {
    mkdirSync(guard);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    if (ageOf(guard) > REMOVAL_MS) rmSync(guard, { recursive: true, force: true });
    return;
  }
  try {
    if (isStale(path)) rmSync(path, { force: true });
  } finally {
    rmSync(guard, { recursive: true, force: true });
  }
}

/**
 * Whether the process of a lock has ended. Its number may belong to another process by now, which started later.
 *
 * @param {string} path
 */
function isStale(path) {
  try {
    const [pid = '', start = ''] = readFileSync(path, 'utf8').split(' ', 2);
    process.kill(Number(pid), 0);
    return start !== startOf(Number(pid));
  } catch (error) {
    return hasCode(error, 'ESRCH');
  }
}

/**
 * Returns when a process started, as text without spaces, for comparison; an empty text if the system does not say.
 *
 * @param {number} pid
 */
function startOf(pid) {
  try {
    // The name of the program may contain anything, but no later field contains a parenthesis.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '';
    return fields.split(' ')[19] ?? '';
  } catch {
    const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { LC_ALL: 'C' },
    });
    return (stdout ?? '').trim().replaceAll(/\s+/g, '-');
  }
}

/** @param {string} path */
function ageOf(path) {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
}

/**
 * @param {unknown} error
 * @param {string} code
 */
function hasCode(error, code) {
  return error instanceof Error && 'code' in error && error.code === code;
}
