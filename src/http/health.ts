import type { FastifyInstance } from 'fastify';
import { AppError } from '../core/errors.ts';
import { httpStatusOf } from '../core/problem.ts';
import type { Services } from '../services.ts';

const PATIENCE_MS = 5_000;

const answers = async (check: Promise<unknown>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, false);
  });
  const ready = check.then(
    () => true,
    () => false,
  );
  return Promise.race([ready, late]).finally(() => clearTimeout(timer));
};

/** `/health`: the process is alive. `/ready`: the database and the store answer, 503 otherwise. */
export const serveHealth = (app: FastifyInstance, { db, store, log }: Services): void => {
  app.get('/health', async () => ({ status: 'ok' }));

  app.get('/ready', async (_request, reply) => {
    const [database, storage] = await Promise.all([answers(db.$queryRaw`select 1`), answers(store.checkReady())]);
    const isReady = database && storage;
    if (!isReady) log.warn({ database, storage }, 'Not ready');
    return reply
      .status(isReady ? 200 : httpStatusOf(new AppError('SERVICE_UNAVAILABLE', 'Not ready')))
      .send({ status: isReady ? 'ok' : 'unavailable', database, storage });
  });
};
