import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from './errors.ts';
import { type PostmasterOptions, startPostmaster } from './postmaster.ts';

const MIN_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;

/**
 * Starts PostgreSQL, and restarts it on the same port whenever it ends unexpectedly (killed when memory runs out, for
 * example), until `stop` is called. PostgreSQL itself recovers from crashed backends.
 *
 * @throws EmbeddedPostgresError if the first start fails
 */
export async function supervisePostgres(
  options: Omit<PostmasterOptions, 'port'>,
): Promise<{ port: number; stop(): Promise<void> }> {
  const { log, serverLog } = options;
  const stopping = new AbortController();
  let current = await startPostmaster({ ...options, port: undefined });
  const { port } = current;

  async function restart(): Promise<void> {
    for (let backoff = MIN_BACKOFF_MS; !stopping.signal.aborted; backoff = Math.min(backoff * 2, MAX_BACKOFF_MS)) {
      try {
        current = await startPostmaster({ ...options, port });
        return;
      } catch (error) {
        log.error({ reason: messageOf(error) }, 'Failed to restart the embedded PostgreSQL');
        await sleep(backoff, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  }

  async function watch(): Promise<void> {
    for (;;) {
      const reason = await current.exited;
      if (stopping.signal.aborted) return;
      const detail = await serverLog.tail(0);
      log.error({ reason, detail }, 'The embedded PostgreSQL ended unexpectedly, restarting it');
      await restart();
      if (stopping.signal.aborted) return current.stop();
    }
  }

  const watching = watch();
  return {
    port,
    async stop() {
      stopping.abort();
      await current.stop();
      await watching;
    },
  };
}
