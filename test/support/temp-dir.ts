import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a temporary directory that all users can enter, because PostgreSQL does not run as root if the tests do. */
export async function makeTempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'lynxroom-test-'));
  await chmod(dir, 0o755);
  return dir;
}
