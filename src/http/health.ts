import type { FastifyInstance } from 'fastify';
import { statusOf } from '../core/errors.ts';
import { inTime } from '../core/in-time.ts';
import type { Log } from '../core/log.ts';
import { findStuckWork } from '../core/work-watch.ts';
import type { Services } from '../services.ts';
import { StorageFullError } from '../storage/object-store.ts';

const TIMEOUT_MS = 5_000;
/** A step of the background work takes seconds. A step that takes this long has hung, and only a restart helps. */
const STUCK_MS = 10 * 60_000;
/**
 * How long a result is reused. Results are reused because anyone may call `/ready`, and each check queries the database
 * and the store.
 */
const REUSE_MS = 1_000;

type Readiness = { database: boolean; storage: boolean; reason?: string };

/**
 * Serves `/health` and `/ready`. `/health` responds while the process is alive, with 503 if the background work has
 * hung. `/ready` responds with 503 unless the database and the store respond. If the store only refuses uploads,
 * `/ready` reports this with status 200, so that a load balancer keeps sending requests for other operations. The
 * result of `/ready` is reused for a second.
 */
export function serveHealth(app: FastifyInstance, services: Services): void {
  let latest: Promise<Readiness> | null = null;
  const check = (): Promise<Readiness> => {
    if (latest !== null) return latest;
    latest = checkReadiness(services);
    void latest.then(() => setTimeout(() => (latest = null), REUSE_MS).unref());
    return latest;
  };

  app.get('/health', async (_request, reply) => {
    const stuck = findStuckWork(STUCK_MS);
    if (stuck.length === 0) return { status: 'ok' };
    return reply.status(statusOf.SERVICE_UNAVAILABLE).send({ status: 'stuck', work: stuck });
  });

  app.get('/ready', async (_request, reply) => {
    const { database, storage, reason } = await check();
    const isReady = database && (storage || reason !== undefined);
    const status = !isReady ? 'unavailable' : storage ? 'ok' : 'degraded';
    return reply
      .status(isReady ? 200 : statusOf.SERVICE_UNAVAILABLE)
      .send({ status, database, storage, ...(reason !== undefined && { reason }) });
  });
}

/** Never rejects. */
async function checkReadiness({ db, store, log }: Services): Promise<Readiness> {
  let reason: string | undefined;
  const storeCheck = store.checkReady().catch((error: unknown) => {
    if (error instanceof StorageFullError) reason = error.message;
    throw error;
  });
  const [database, storage] = await Promise.all([
    respondsInTime(log, 'database', db.ping()),
    respondsInTime(log, 'storage', storeCheck),
  ]);
  return { database, storage, ...(reason !== undefined && { reason }) };
}

async function respondsInTime(log: Log, part: string, check: Promise<unknown>): Promise<boolean> {
  const ready = check.then(
    () => true,
    (error: unknown) => {
      log.warn({ part, err: error }, 'Not ready');
      return false;
    },
  );
  const outcome = await inTime(ready, TIMEOUT_MS, 'late');
  if (outcome === 'late') log.warn({ part }, 'Not ready: no response in time');
  return outcome === true;
}
