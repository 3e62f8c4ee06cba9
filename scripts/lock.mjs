/** Lets only one process at a time do some work on this checkout. It uses only Node's own modules. */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const STALE_LOCK_MS = 15 * 60_000;

/**
 * Runs `work` while no other process runs work with the same name on this checkout. A lock whose process has ended is
 * taken over.
 *
 * @param {string} name
 * @param {string} root
 * @param {() => Promise<void>} work
 */
export async function withLock(name, root, work) {
  const path = lockPath(name, root);
  for (let isReported = false; !tryLock(path); isReported = true) {
    if (!isReported) process.stdout.write(`Waiting for another ${name} of this checkout …\n`);
    await sleep(250);
  }
  try {
    await work();
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
  if (isStale(path)) rmSync(path, { force: true });
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** @param {string} path */
function isStale(path) {
  try {
    if (Date.now() - statSync(path).mtimeMs > STALE_LOCK_MS) return true;
    process.kill(Number(readFileSync(path, 'utf8')), 0);
    return false;
  } catch (error) {
    return hasCode(error, 'ESRCH');
  }
}

/**
 * @param {unknown} error
 * @param {string} code
 */
function hasCode(error, code) {
  return error instanceof Error && 'code' in error && error.code === code;
}
