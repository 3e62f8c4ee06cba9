/** All operations reject with the reason of their signal, as `fetch` does. */

/** Calls `start`, unless the signal is aborted. Rejects with the signal's reason as soon as it is. */
export async function untilAborted<Result>(
  signal: AbortSignal | undefined,
  start: () => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    void start()
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener('abort', abort));
  });
}

/** Waits. Rejects with the signal's reason once it is aborted. */
export function sleep(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
