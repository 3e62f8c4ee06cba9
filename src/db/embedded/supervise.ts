import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from './errors.ts';
import { type PostmasterOptions, startPostmaster } from './postmaster.ts';

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

/**
 * Starts PostgreSQL, and again on the same port whenever it ends by itself (killed for want of memory, say), for as long
 * as it takes. A backend that crashes is PostgreSQL's own affair.
 * @throws EmbeddedPostgresError when the first start fails
 */
export async function supervisePostgres(
  options: Omit<PostmasterOptions, 'port'>,
): Promise<{ port: number; stop(): Promise<void> }> {
  const { log, serverLog } = options;
  const stopping = new AbortController();
  let current = await startPostmaster({ ...options, port: undefined });
  const { port } = current;

  const startAgain = async (): Promise<void> => {
    for (let pause = FIRST_PAUSE_MS; !stopping.signal.aborted; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      try {
        current = await startPostmaster({ ...options, port });
        return;
      } catch (error) {
        log.error({ reason: messageOf(error) }, 'The embedded PostgreSQL could not be started again');
        await sleep(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  };

  const watch = async (): Promise<void> => {
    for (;;) {
      const reason = await current.exited;
      if (stopping.signal.aborted) return;
      log.error(
        { reason, detail: await serverLog.tail(0) },
        'The embedded PostgreSQL ended by itself, starting it again',
      );
      await startAgain();
      if (stopping.signal.aborted) return current.stop();
    }
  };

  const watching = watch();
  return {
    port,
    stop: async () => {
      stopping.abort();
      await current.stop();
      await watching;
    },
  };
}
