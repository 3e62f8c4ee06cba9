/** Reads what the document of a page needs, for everybody who opens it. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Subject } from '../auth/rate-limits.ts';
import { AppError } from '../core/errors.ts';
import { inTime } from '../core/in-time.ts';
import { SECOND_MS } from '../core/time.ts';
import { createContext } from '../http/context.ts';
import { runBounded } from '../http/request-bounds.ts';
import type { Services } from '../services.ts';
import { callPublicly } from '../trpc/access.ts';

/** The page works without it, so it waits no longer for the database. */
const MAX_WAIT_MS = SECOND_MS;

export type PageReading<Value> = {
  /** The name of the call in measurements. */
  name: string;
  subject: Subject;
  read: () => Promise<Value>;
  /** What the page gets if there is nothing, the network has asked too often, or the database is slow. */
  neutral: Value;
};

/** Resolves with the value and the origin of the service. Never rejects. */
export async function readForPage<Value>(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  { name, subject, read, neutral }: PageReading<Value>,
): Promise<{ value: Value; origin: string }> {
  const context = createContext(services, request, reply);
  const reading = runBounded(request, reply, { name, method: 'GET' }, async () =>
    callPublicly(context, subject, read),
  ).catch((error: unknown) => {
    if (!(error instanceof AppError)) services.log.warn({ err: error }, `Failed to read for a page: ${name}`);
    return neutral;
  });
  return { value: await inTime(reading, MAX_WAIT_MS, neutral), origin: context.origin };
}
