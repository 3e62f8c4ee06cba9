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
