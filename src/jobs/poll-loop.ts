/** Work that is done in passes: whenever it is woken, and from time to time in case a wake-up was missed. */
import type { PgBoss } from 'pg-boss';
import type { Log } from '../core/log.ts';

export type PollLoop = {
  /** Has a pass begin as soon as the one that runs, if any, is over. */
  wake(): void;
  /** Resolves when no pass runs, and no further one will. */
  stop(): Promise<void>;
};

const PAUSE_AFTER_ERROR_MS = 1_000;

/**
 * Calls `wake` for each NOTIFY on a channel, and whenever the connection was made anew, since what was said meanwhile is
 * lost. Where the database cannot be listened to, it says so once, and the passes go by the clock alone.
 */
export async function listenTo(
  boss: PgBoss,
  channel: string,
  wake: () => void,
  log: Log,
): Promise<() => Promise<void>> {
  const database = boss.getDb();
  try {
    const handle = await database.listen?.(channel, wake, wake);
    if (handle) return () => handle.close();
  } catch (error) {
    log.warn({ err: error, channel }, 'The database cannot be listened to: work is looked for by the clock alone');
  }
  return async () => {};
}

/**
 * Runs `pass` again and again. It answers how many milliseconds to rest, 0 for not at all; being woken ends a rest. A pass
 * that fails is logged and repeated after a moment.
 */
export function startPollLoop(options: { name: string; pass: () => Promise<number>; log: Log }): PollLoop {
  const { name, pass, log } = options;
  let isStopping = false;
  let isWoken = false;
  let endRest = (): void => {};

  const rest = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      endRest = () => {
        clearTimeout(timer);
        resolve();
      };
      if (isWoken || isStopping) endRest();
    });

  const run = async (): Promise<void> => {
    while (!isStopping) {
      isWoken = false;
      try {
        const restMs = await pass();
        if (restMs > 0) await rest(restMs);
      } catch (error) {
        log.error({ err: error, pass: name }, 'A pass failed');
        isWoken = false;
        await rest(PAUSE_AFTER_ERROR_MS);
      }
    }
  };
  const running = run();
  return {
    wake() {
      isWoken = true;
      endRest();
    },
    stop() {
      isStopping = true;
      endRest();
      return running;
    },
  };
}
