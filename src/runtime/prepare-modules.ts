/** Runs before the modules of a process are loaded, so it imports only Node's own. */
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The compiled code of the modules. Without it, compiling takes half of the start-up time. */
const compileCacheDirectory = join(root, 'node_modules/.cache/compiled');

/** Ends the process with one line if the checkout is not set up. Otherwise enables Node's compile cache. */
export function prepareModules(): void {
  requireSetup();
  // A directory that cannot be written to only makes the start slower.
  if (process.env.NODE_COMPILE_CACHE === undefined) enableCompileCache(compileCacheDirectory);
}

/** Ends the process with one line if packages are missing, or the database client has not been generated. */
export function requireSetup(): void {
  const needed = ['node_modules/fastify/package.json', 'src/db/generated/client.ts'];
  if (needed.every((path) => existsSync(join(root, path)))) return;
  process.stderr.write('The project is not set up: run "node scripts/setup.mjs", then this command again.\n');
  process.exit(1);
}
