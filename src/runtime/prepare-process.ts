/** Prepares this process for a server, before the modules of the server are loaded. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Limits for V8, which would otherwise use the memory of a large machine before it collects garbage. Each can be set by
 * NODE_OPTIONS or on the command line instead.
 *
 * The young generation consists of three semi-spaces. V8 lets each grow to 32 MB under load. With 4 MB each, collecting
 * garbage takes a fifth of the CPU time of a request. With 8 MB, a list of 200 labels takes 15 % more CPU time than
 * with 16; 32 MB is no faster. With 16 MB, the process takes 36 MiB more than with 4. The higher the limit of the old
 * generation, the more V8 lets it grow before it collects garbage. The service needs 80 MB, and an import of 100,000
 * contacts a further 60 MB.
 */
const memoryLimits = ['--max-semi-space-size=16', '--max-old-space-size=512'];

/** The compiled code of the modules. Without it, compiling takes half of the start-up time. */
const compileCacheDirectory = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url));

/**
 * Unless `memoryLimits` are already set, re-executes this process with them, because V8 reads them only when it starts.
 * This keeps the process ID and takes about 30 ms. Then enables the compile cache.
 */
export function prepareProcess(): void {
  const missing = memoryLimits.filter((limit) => !isSet(limit));
  // A process with an IPC channel to its parent is not re-executed, because that would close the channel.
  if (missing.length > 0 && process.execve && !process.connected) {
    const args = [process.execPath, ...process.execArgv, ...missing, ...process.argv.slice(1)];
    // glibc gives each thread an arena of its own, which keeps freed memory. Two are enough, because most allocations
    // happen on one thread.
    process.execve(process.execPath, args, { MALLOC_ARENA_MAX: '2', ...process.env });
  }
  useCompileCache();
}

/** Enables the compile cache, for the modules that are loaded from now on. */
export function useCompileCache(): void {
  // A directory that cannot be written to only makes the start slower.
  if (process.env.NODE_COMPILE_CACHE === undefined) enableCompileCache(compileCacheDirectory);
}

function isSet(limit: string): boolean {
  const name = limit.slice(0, limit.indexOf('='));
  const options = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(' ')];
  // Node accepts underscores in the options of V8.
  return options.some((option) => option.replaceAll('_', '-').startsWith(name));
}
