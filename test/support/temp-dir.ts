import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new temporary folder that every account may enter: where tests run as root, PostgreSQL runs as another one. */
export async function makeTempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'lynxroom-test-'));
  await chmod(dir, 0o755);
  return dir;
}
