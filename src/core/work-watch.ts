/** Watches the background work of this process, so that a liveness probe can detect that it has hung. */

const running = new Map<symbol, { name: string; since: number }>();

/** Runs one step of the background work. If it runs for too long, `findStuckWork` returns its name. */
export async function watchWork<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const key = Symbol(name);
  running.set(key, { name, since: performance.now() });
  try {
    return await work();
  } finally {
    running.delete(key);
  }
}

/** Returns the names of the steps that have run for longer than `maxMs`. */
export function findStuckWork(maxMs: number): string[] {
  const before = performance.now() - maxMs;
  return [...running.values()].filter(({ since }) => since < before).map(({ name }) => name);
}
