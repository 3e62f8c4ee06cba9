import { chmod, mkdtemp, readFile, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory, which Linux has. */
const MEMORY_DIR = '/dev/shm';
/** How much memory must be free, and how much of it the file system may use. */
const MIN_FREE_BYTES = 4 * 1024 ** 3;

/** Creates a temporary directory that all users can enter, because PostgreSQL does not run as root if the tests do. */
export async function makeTempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'lynxroom-test-'));
  await chmod(dir, 0o755);
  return dir;
}

/**
 * Makes a new directory the temporary directory of this process and of those that it starts: in memory, if there is
 * enough of it. Returns a function that removes it with everything that tests left there.
 */
export async function replaceTempDir(): Promise<() => Promise<void>> {
  const before = tmpdir();
  const dir = await mkdtemp(join((await hasRoomInMemory()) ? MEMORY_DIR : before, 'lynxroom-tests-'));
  // As /tmp.
  await chmod(dir, 0o1777);
  process.env.TMPDIR = dir;
  return async () => {
    process.env.TMPDIR = before;
    await rm(dir, { recursive: true, force: true });
  };
}

async function hasRoomInMemory(): Promise<boolean> {
  try {
    const mounts = await readFile('/proc/mounts', 'utf8');
    const options = new RegExp(`^\\S+ ${MEMORY_DIR} \\S+ (\\S+)`, 'm').exec(mounts)?.[1] ?? 'noexec';
    const { bavail, bsize } = await statfs(MEMORY_DIR);
    return (
      !options.split(',').includes('noexec') && Math.min(bavail * bsize, process.availableMemory()) >= MIN_FREE_BYTES
    );
  } catch {
    return false;
  }
}
