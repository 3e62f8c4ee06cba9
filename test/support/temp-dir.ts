import { chmod, mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory, which Linux has. */
const MEMORY_DIR = '/dev/shm';
/** How much memory must be free, and how much of it the file system must be allowed to use. */
const MIN_FREE_BYTES = 4 * 1024 ** 3;

/** Creates a temporary directory that all users can enter, because PostgreSQL does not run as root if the tests do. */
export async function makeTempDir(parent = tmpdir()): Promise<string> {
  const dir = await mkdtemp(join(parent, 'lynxroom-test-'));
  await chmod(dir, 0o755);
  return dir;
}

/** As `makeTempDir`, in memory if the machine has enough of it. */
export async function makeDirInMemory(): Promise<string> {
  const free = await statfs(MEMORY_DIR).then(
    ({ bavail, bsize }) => Math.min(bavail * bsize, process.availableMemory()),
    () => 0,
  );
  return makeTempDir(free >= MIN_FREE_BYTES ? MEMORY_DIR : undefined);
}
