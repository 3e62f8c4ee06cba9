import type { FastifyInstance } from 'fastify';
import { statusOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Services } from '../services.ts';

const TIMEOUT_MS = 5_000;

/** `/health`: the process is alive. `/ready`: the database and the store respond; 503 if one does not. */
export function serveHealth(app: FastifyInstance, { db, store, log }: Services): void {
  app.get('/health', async () => ({ status: 'ok' }));

  app.get('/ready', async (_request, reply) => {
    const [database, storage] = await Promise.all([
      isReadyInTime(log, 'database', db.$queryRaw`select 1`),
      isReadyInTime(log, 'storage', store.checkReady()),
    ]);
    const isReady = database && storage;
    return reply
      .status(isReady ? 200 : statusOf.SERVICE_UNAVAILABLE)
      .send({ status: isReady ? 'ok' : 'unavailable', database, storage });
  });
}

async function isReadyInTime(log: Log, part: string, check: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => {
      log.warn({ part }, 'Not ready: no answer in time');
      resolve(false);
    }, TIMEOUT_MS);
  });
  const ready = check.then(
    () => true,
    (error: unknown) => {
      log.warn({ part, err: error }, 'Not ready');
      return false;
    },
  );
  return Promise.race([ready, late]).finally(() => clearTimeout(timer));
}
