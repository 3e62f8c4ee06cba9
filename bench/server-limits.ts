/** The limits of memory with which package.json starts a server or worker, as variables of the environment. */
export const serverLimits = {
  NODE_OPTIONS: '--max-semi-space-size=16 --max-old-space-size=512',
  MALLOC_ARENA_MAX: '2',
};
